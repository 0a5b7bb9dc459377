mkdir one two
