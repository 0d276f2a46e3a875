//! Every error row of `mail-dispatch-api.md` and every row of the confirm table, over HTTP: what the
//! daemon does. ARCHITECTURE.md has the same as a table.
