"""Where a page can be run: the repository it comes from, and the buttons."""
