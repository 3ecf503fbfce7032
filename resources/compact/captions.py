"""From the guessed caption of a training clip to words that a person would search with.

The corpus names its clips in the shorthand of games and drum machines (``bja pacific hh``, ``gib
splat``, ``plats pt strt``). A bridge trained on such words learns the shorthand, so they are spelled
out first; words that only name a character, a folder or a kit are dropped.
"""

from __future__ import annotations

SPELLED_OUT = {
    "hh": "hi-hat cymbal", "hhat": "hi-hat cymbal", "hihat": "hi-hat cymbal", "hat": "hi-hat cymbal",
    "chh": "closed hi-hat", "hhclosed": "closed hi-hat", "hhopen": "open hi-hat", "hhpedal": "hi-hat pedal",
    "closedhat": "closed hi-hat", "openhat": "open hi-hat", "closehihat": "closed hi-hat", "ohh": "open hi-hat",
    "pedalhihat": "hi-hat pedal", "hc": "closed hi-hat", "ho": "open hi-hat", "oh": "open hi-hat",
    "sn": "snare drum", "sd": "snare drum", "snare": "snare drum", "jsnare": "snare drum", "rsnare": "snare drum",
    "bd": "bass drum kick", "kick": "kick drum", "bassdrum": "bass drum", "tm": "tom drum", "tom": "tom drum",
    "tomh": "high tom drum", "ft": "floor tom drum", "floortom": "floor tom drum", "cb": "cowbell",
    "rd": "ride cymbal", "ride": "ride cymbal", "rc": "ride cymbal", "cc": "crash cymbal", "cra": "crash cymbal",
    "paiste": "cymbal", "sabian": "cymbal", "zildjian": "cymbal", "china": "china cymbal", "perc": "percussion",
    "rim": "rim shot", "rimshot": "rim shot", "rs": "rim shot", "sidestick": "side stick drum",
    "conga": "conga drum", "bongo": "bongo drum", "djembe": "djembe drum", "tabla": "tabla drum",
    "cajon": "cajon drum", "dununba": "african drum", "kenkeni": "african drum", "sangban": "african drum",
    "maraca": "maracas shaker", "tamborine": "tambourine", "agogo": "agogo bell", "clave": "claves wood percussion",
    "clav": "clavinet", "guit": "guitar", "geetar": "guitar", "cembalo": "harpsichord", "klavichord": "clavichord",
    "cymbaly": "dulcimer", "accord": "accordion", "elec": "electronic", "ambi": "ambient", "synth": "synthesizer",
    "stringsnpads": "synthesizer string pad", "technosynth": "techno synthesizer", "bassloops": "bass loop",
    "lfo": "synthesizer oscillator", "trancegate": "trance synthesizer", "mehackit": "electronic",
    "vari": "", "gb": "game console", "noteblock": "musical note", "musicbox": "music box",
    "explons": "explosion", "explos": "explosion", "expl": "explosion", "explode": "explosion",
    "lrgexpl": "large explosion", "smlexpl": "small explosion", "medexpl": "explosion", "nxsexpld": "explosion",
    "rexplo": "explosion", "bigexplosion": "big explosion", "explosions": "explosion", "nuke": "nuclear bomb",
    "empsmall": "electric pulse", "lazer": "laser beam", "laser": "laser gun shot", "phaser": "laser gun",
    "plasma": "plasma energy gun", "railgun": "rail gun shot", "machinegun": "machine gun fire", "mg": "machine gun",
    "machgf": "machine gun fire", "mgheavy": "heavy machine gun fire", "mgbar": "machine gun fire",
    "vulcan": "minigun fire", "vulcanf": "minigun fire", "uzi": "submachine gun fire", "smg": "submachine gun",
    "hmg": "heavy machine gun", "flak": "anti aircraft gun", "nailgun": "nail gun shot", "bfg": "energy cannon",
    "flmthrow": "flame thrower", "flamer": "flame thrower", "crylink": "energy weapon", "electro": "electronic",
    "grenade": "grenade", "proxmine": "mine", "prox": "mine", "ric": "bullet ricochet", "richet": "bullet ricochet",
    "casings": "bullet shell casings falling", "brass": "brass", "shotgun": "shotgun blast", "rocket": "rocket missile",
    "missile": "missile launch", "reload": "gun reload", "lockon": "target lock beep", "tnt": "dynamite",
    "shoot": "gun shot", "shot": "gun shot", "bullet": "bullet shot", "bullets": "bullet shot", "fire": "fire",
    "gib": "bloody flesh gore", "gibimp": "flesh gore splat", "gibs": "flesh gore", "splat": "wet splat",
    "pain": "voice crying out in pain", "hurt": "voice crying out in pain", "critdie": "creature death cry",
    "die": "death cry", "death": "death cry", "dead": "death cry", "maledeath": "man dying",
    "femaledeath": "woman dying", "malehurt": "man hurt in pain", "femalehurt": "woman hurt in pain",
    "phys": "attack hit", "ment": "magic attack", "taunt": "voice taunt shout", "taunts": "voice taunt shout",
    "gasp": "gasping for breath", "drown": "drowning gurgle", "falling": "falling scream", "fall": "falling",
    "fallingscreamhi": "scream while falling", "jump": "jump", "land": "landing thump", "hitground": "hitting the ground",
    "metalhitground": "metal hitting the ground", "foot": "footsteps", "footstep": "footsteps", "step": "footsteps",
    "steps": "footsteps", "metalfootstep": "footsteps on metal", "walk": "walking footsteps", "walking": "walking",
    "clank": "metal footsteps clank", "boot": "boot footsteps", "mech": "robot footsteps", "energy": "energy",
    "tele": "teleport", "telein": "teleport in", "teleout": "teleport out", "respawn": "respawn teleport",
    "spawn": "appearing magic", "pkup": "item pickup", "am": "", "plats": "moving platform elevator",
    "medplat": "moving platform elevator", "movers": "machine moving", "strt": "start", "pt": "platform",
    "butn": "button switch", "swtch": "switch", "watr": "water", "wtr": "water", "dr": "door", "metbrk": "metal breaking",
    "woodbrk": "wood breaking", "breakwood": "wood breaking", "breakglass": "glass breaking",
    "breakmetal": "metal breaking", "breakelectric": "electric breaking", "metalbang": "metal bang",
    "stonebang": "stone bang", "goldping": "coin metal ping", "goldspin": "spinning coin", "birdchirp": "bird chirping",
    "carhorn": "car horn", "firetruck": "fire engine siren", "honkhonk": "car horn honk", "gunshot": "gun shot",
    "doorbell": "door bell", "fischiocorto": "referee whistle", "fischiolungo": "long referee whistle",
    "woodthunk": "wood knock", "dooropen": "door open", "typewriterbell": "typewriter bell", "cardflip": "card flip",
    "keyclick": "key click", "menuclick": "menu click", "bleep": "beep", "interfce": "interface", "npc": "",
    "radclick": "geiger counter click", "radclik": "geiger counter click", "trnsppil": "radio voice of a pilot",
    "vtol": "jet aircraft", "vtoltalk": "radio voice of a pilot", "vtoloff": "jet aircraft taking off",
    "hovstop": "hovercraft stopping", "jetwash": "jet engine", "nexwhoosh": "whoosh of a shot", "hagexp": "explosion",
    "flyby": "fly by whoosh", "gold": "gold coins", "coin": "coin pickup", "gem": "gem pickup", "goody": "bonus pickup",
    "powerup": "power up", "levelup": "level up", "lifeup": "extra life", "oneup": "extra life",
    "gameover": "game over", "youlose": "game lost", "youwin": "game won", "lose": "losing jingle", "win": "winning jingle",
    "extend": "extra life", "bgm": "background music", "tunes": "music", "musics": "music", "zik": "music",
    "title": "title music", "credits": "music", "intro": "intro music", "stdmusic": "music", "anthem": "anthem music",
    "sys": "computer", "im": "instant message", "voc": "announcer voice", "festivoxmale": "man's voice",
    "speech": "spoken voice", "coms": "voice command", "teamplay": "game announcement", "ctf": "game announcement",
    "feedback": "announcer voice", "vocals": "voice singing", "nexus": "computer voice", "fart": "fart",
    "klaxon": "alarm klaxon", "sequenceaudio": "", "growl": "monster growl", "orc": "orc monster", "troll": "troll monster",
    "ogre": "ogre monster", "naga": "snake monster", "wose": "tree monster", "lich": "undead monster",
    "gryphon": "gryphon creature", "drake": "dragon", "wyvern": "dragon", "tusker": "wild boar", "yeti": "yeti monster",
    "antlion": "insect monster", "zombie": "zombie", "skeleton": "skeleton bones", "minotaur": "bull monster",
    "goblin": "goblin monster", "mermen": "fish man", "canter": "galloping", "sling": "sling throw", "staff": "wooden staff",
    "miss": "swing whoosh miss", "whiff": "swing whoosh", "swing": "swing whoosh", "thunderstick": "musket shot",
    "dragonstick": "musket shot", "woodcutting": "chopping wood with an axe", "lumberjack": "chopping wood with an axe",
    "stonemason": "hammering stone", "stonecutting": "hammering stone", "stonecutter": "hammering stone",
    "smiths": "blacksmith hammering on an anvil", "smith": "blacksmith hammering on an anvil",
    "toolsmith": "blacksmith hammering", "sawmill": "sawing wood", "benchsaw": "saw cutting wood",
    "taverns": "tavern", "tavern": "tavern people talking", "merchant": "merchant speaking", "farm": "farm animal",
    "ox": "ox mooing", "putbomb": "placing a bomb", "squish": "squishing", "bubbles": "water bubbles",
    "waterglass": "glass", "fisher": "fishing", "gull": "seagull", "birds": "birds singing", "bird": "bird singing",
    "dog": "dog barking", "bark": "dog barking", "cow": "cow mooing", "wolf": "wolf", "frog": "frog croaking",
    "sheep": "sheep bleating", "horse": "horse", "duck": "duck quacking", "cat": "cat meowing", "owl": "owl hooting",
    "raven": "raven cawing", "rooster": "rooster crowing", "crickets": "crickets chirping", "cricket": "cricket chirping",
    "wind": "wind blowing", "thunder": "thunder", "rain": "rain falling", "lightning": "lightning thunder",
    "fireball": "fireball whoosh", "crowd": "crowd of people", "applause": "audience applause", "laugh": "laughing voice",
    "yeah": "voice shouting yeah", "scream": "voice screaming", "moan": "moaning voice", "ouch": "voice crying ouch",
    "typing": "keyboard typing", "sonar": "sonar ping", "phone": "telephone ringing", "cineboom": "cinematic boom",
}  # fmt: skip

DROPPED = set(
    """
    wavs res samples sample themes theme examples sounds sound stdsounds sfx fx misc default lower upper items item
    player world bot kit drumkit drumkits multi layered millo gm bja pacific forzee gimme black pearl rumpf standard
    colombo audiophob empire ee circ afrique belofilms the le sweet trip mm ikea semicolon caret ampersand dollar
    tilde percent hash asterix exclamation equals plus dot colon backslash forwardslash hyphen bb oxygen mesecons
    pyria skadi fricka torus insurrectionist carni lycan specop reptilian marine sarge penguin neko desertfactory
    porto onslaught ons nexball kh nether atlanteans barbarians frisians amazons book chapter digital artists gameplay
    eric matyas funky insane caper escape looping qml ui ew textures skins instruments instrument shapes waveforms
    waveform emulation tr vp cl br mics mic stereo mono memressp proxmessages grnli tas com hard soft med medium softest
    hardest hardness vol alt new old generic dokidoki tetrico cf oa am ar stringsnpad bunglist arcadesnd secosmic
    hpl glob levels skyblock xdecor kwik mod tek thorns tux ingame comments eng en de fr es nl ru ca da lt fi sr wa
    """.split()
)


def spelled_out(caption: str) -> str:
    """The caption in plain words; empty when nothing of it describes a sound."""
    words: list[str] = []
    for word in caption.lower().split():
        if word in DROPPED or word.isdigit() or (len(word) < 2 and word not in SPELLED_OUT):
            continue
        for plain in SPELLED_OUT.get(word, word).split():
            if plain not in words:
                words.append(plain)
    return " ".join(words)
