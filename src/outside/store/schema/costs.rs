//! Steps of the tables that change what writing a letter costs, and nothing that rows mean.

/// For a list in a condition, each statement that checks it makes a temporary table; for comparisons it makes no table.
/// Rows stay as they are: the texts of these conditions are replaced by others that mean the same.
pub(super) const COMPARED: &str = "
    DROP INDEX letter_counted;
    CREATE INDEX letter_counted ON letter (source, admitted_at, sheets)
        WHERE state <> 'held' AND state <> 'withdrawn' AND state <> 'cancelled';

    DROP TRIGGER death_is_final;
    CREATE TRIGGER death_is_final BEFORE UPDATE OF outcome ON mail
        WHEN (OLD.outcome = 'dead' OR OLD.outcome = 'abandoned' OR OLD.outcome = 'cancelled')
            AND NEW.outcome IS NOT OLD.outcome
        BEGIN SELECT RAISE(ABORT, 'the end of a mail is final'); END;

    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql,
        'state IN (''admitted'', ''created'', ''uploaded'', ''confirming'', ''withdrawing'',
            ''confirmed'', ''shipped'', ''cancelled'', ''withdrawn'', ''closed'', ''held'')',
        'state = ''admitted'' OR state = ''created'' OR state = ''uploaded'' OR state = ''confirming''
            OR state = ''withdrawing'' OR state = ''confirmed'' OR state = ''shipped'' OR state = ''cancelled''
            OR state = ''withdrawn'' OR state = ''closed'' OR state = ''held''')
        WHERE type = 'table' AND name = 'letter';
    UPDATE sqlite_schema SET sql = replace(sql,
        'outcome IN (''abandoned'', ''dead'', ''confirmed'', ''cancelled'', ''shipped'')',
        'outcome = ''abandoned'' OR outcome = ''dead'' OR outcome = ''confirmed'' OR outcome = ''cancelled''
            OR outcome = ''shipped''')
        WHERE type = 'table' AND name = 'mail';
    UPDATE sqlite_schema SET sql = replace(sql,
        'place IN (''claim'', ''held'', ''sent'', ''rejected'', ''cancelled'', ''gone'')',
        'place = ''claim'' OR place = ''held'' OR place = ''sent'' OR place = ''rejected'' OR place = ''cancelled''
            OR place = ''gone''')
        WHERE type = 'table' AND name = 'original';
    PRAGMA writable_schema = RESET;

    PRAGMA user_version = 18;
";

/// For a statement that sets off a trigger, SQLite keeps a copy of each page that it changes. So the writer counts letters,
/// once for each commit (`standing.rs`). And two indices are spared the steps of a letter on its way: whether it counts
/// for the limits is a column of its own, and when it changed is not in the index before it rests.
pub(super) const COUNTED_TOGETHER: &str = "
    DROP TRIGGER letter_is_new;
    DROP TRIGGER letter_is_another;
    DROP TRIGGER letter_is_gone;

    DROP INDEX letter_counted;
    ALTER TABLE letter ADD COLUMN counted INTEGER NOT NULL DEFAULT 1;
    UPDATE letter SET counted = 0 WHERE state IN ('held', 'withdrawn', 'cancelled');
    CREATE INDEX letter_counted ON letter (source, admitted_at, sheets) WHERE counted = 1;

    DROP INDEX letter_changed;
    CREATE INDEX letter_rested ON letter (changed_at) WHERE state <> 'admitted' AND state <> 'created'
        AND state <> 'uploaded' AND state <> 'confirming' AND state <> 'withdrawing';

    PRAGMA user_version = 19;
";

/// The status lists the letters that are held for the longest time, also if there are very many.
pub(super) const HELD: &str = "
    CREATE INDEX letter_held ON letter (changed_at) WHERE state = 'held';

    PRAGMA user_version = 20;
";
