"""Practice: quizzes and worksheets whose answers the helpers compute."""
