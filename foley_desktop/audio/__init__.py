"""Reading, drawing, playing and writing sound files. Free of Qt and of the other rooms."""
