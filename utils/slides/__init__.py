"""Slides of a chapter, made from the chapter's own notebook."""
