"""Generated Python functions, one for each tool: signatures, sources, the module tree, the guest's runtime texts."""
