"""Charts as inline SVG: each module turns a document into positions; a template draws them."""
