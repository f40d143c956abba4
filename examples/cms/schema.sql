-- The documents. Their key is the canonical form of the URL (unseen canon), so that every spelling of a URL
-- is one document here, as in the set.
CREATE TABLE documents (
    url       text PRIMARY KEY,
    title     text NOT NULL,
    body      text NOT NULL,
    stored_by text NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT now()
);
