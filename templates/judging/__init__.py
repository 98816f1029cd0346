"""Judge prompts: ``NAME.md`` holds the text, ``NAME.toml`` says what it is and what it needs."""
