"""Which tools fit some words: queries parsed, a catalog indexed, hits ranked. Pure, standard library only but for the
linear regular expressions of jsonschema-rs.
"""
