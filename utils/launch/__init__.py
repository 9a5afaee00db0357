"""From a page of the book to a running chapter."""
