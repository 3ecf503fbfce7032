-- Foley Desktop: inserts files at the edit cursor, on the selected track.
--
-- Load it in REAPER's action list. Run as an action by the web interface it inserts the files of the list it
-- is told of. Where it was saved with a list file to watch, run it once: it then watches until it is ended.

local SECTION = "FoleyDesktop"
local WATCHED = "@LIST_FILE@"

local function decoded(line)
  return (line:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function insert_all(path)
  local list = io.open(path, "rb")
  if not list then return nil end
  local lines = {}
  for line in list:lines() do
    local bare = line:gsub("[\r\n]+$", "")
    if bare ~= "" then lines[#lines + 1] = decoded(bare) end
  end
  list:close()
  os.remove(path)
  local inserted = 0
  reaper.Undo_BeginBlock()
  for _, file in ipairs(lines) do
    -- Mode 0: on the selected track, at the edit cursor, which moves to the end of what was inserted.
    if reaper.InsertMedia(file, 0) ~= 0 then inserted = inserted + 1 end
  end
  reaper.Undo_EndBlock("Insert from Foley Desktop", -1)
  reaper.UpdateArrange()
  return inserted
end

local function watch()
  -- Taken away before it is read, so that a list written meanwhile is another one.
  local claimed = decoded(WATCHED) .. ".taken"
  if os.rename(decoded(WATCHED), claimed) then insert_all(claimed) end
  reaper.defer(watch)
end

local told = reaper.GetExtState(SECTION, "list")
if told ~= "" then
  reaper.DeleteExtState(SECTION, "list", false)
  local count = insert_all(told)
  reaper.SetExtState(SECTION, "result", count and tostring(count) or "the list of files is not there", false)
elseif WATCHED ~= "" then
  watch()
end
