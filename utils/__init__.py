"""Arrays in, arrays out; pictures and sliders one floor up."""
