//! The tables: as the first version had them, and what each later version changed.

use super::costs::{COMPARED, COUNTED_TOGETHER, HELD};

/// Facts are the truth. The columns of `letter` and `mail` are made from them, for lists and constraints.
/// Triggers keep facts final, and one index refuses a second live intent.
const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

    CREATE TABLE letter (
        number INTEGER PRIMARY KEY,
        ulid TEXT NOT NULL UNIQUE,
        account TEXT NOT NULL,
        source TEXT NOT NULL,
        admitted_at INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('admitted', 'created', 'uploaded', 'confirming', 'withdrawing',
            'confirmed', 'shipped', 'cancelled', 'withdrawn', 'closed', 'held')),
        facts INTEGER NOT NULL CHECK (facts > 0),
        changed_at INTEGER NOT NULL,
        urgency INTEGER NOT NULL CHECK (urgency BETWEEN 0 AND 2),
        due_at INTEGER,
        attempts INTEGER NOT NULL DEFAULT 0,
        trouble TEXT,
        tracking TEXT
    ) STRICT;
    CREATE INDEX letter_due ON letter (account, urgency, due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX letter_state ON letter (state);

    CREATE TABLE document (
        letter INTEGER NOT NULL REFERENCES letter, n INTEGER NOT NULL,
        name TEXT NOT NULL, size INTEGER NOT NULL, pages INTEGER NOT NULL, sha256 TEXT NOT NULL,
        PRIMARY KEY (letter, n)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE mail (
        letter INTEGER NOT NULL REFERENCES letter, k INTEGER NOT NULL,
        id TEXT NOT NULL, realm TEXT NOT NULL, confirm_by INTEGER NOT NULL,
        intent_at INTEGER,
        outcome TEXT CHECK (outcome IN ('abandoned', 'dead', 'confirmed', 'cancelled', 'shipped')),
        CHECK (outcome IS NOT 'dead' OR intent_at IS NOT NULL),
        CHECK (outcome IS NOT 'confirmed' OR intent_at IS NOT NULL),
        CHECK (outcome IS NOT 'abandoned' OR intent_at IS NULL),
        PRIMARY KEY (letter, k)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX one_live_intent ON mail (letter)
        WHERE intent_at IS NOT NULL AND outcome IS NOT 'dead';
    CREATE UNIQUE INDEX mail_id ON mail (realm, id);

    CREATE TABLE fact (
        seq INTEGER PRIMARY KEY,
        letter INTEGER NOT NULL REFERENCES letter, n INTEGER NOT NULL,
        line TEXT NOT NULL CHECK (json_valid(line)), line_check TEXT NOT NULL,
        UNIQUE (letter, n)
    ) STRICT;
    CREATE TRIGGER facts_never_change BEFORE UPDATE ON fact
        BEGIN SELECT RAISE(ABORT, 'a fact never changes'); END;
    CREATE TRIGGER facts_are_never_deleted BEFORE DELETE ON fact
        BEGIN SELECT RAISE(ABORT, 'a fact is never deleted'); END;
    CREATE TRIGGER intents_are_final BEFORE UPDATE OF intent_at ON mail
        WHEN OLD.intent_at IS NOT NULL AND NEW.intent_at IS NOT OLD.intent_at
        BEGIN SELECT RAISE(ABORT, 'an intent is final'); END;
    CREATE TRIGGER death_is_final BEFORE UPDATE OF outcome ON mail
        WHEN OLD.outcome IN ('dead', 'abandoned', 'cancelled') AND NEW.outcome IS NOT OLD.outcome
        BEGIN SELECT RAISE(ABORT, 'the end of a mail is final'); END;

    CREATE TABLE owed (
        id INTEGER PRIMARY KEY,
        subject TEXT NOT NULL, notice TEXT NOT NULL, about TEXT NOT NULL,
        owed_at INTEGER NOT NULL, done_at INTEGER,
        UNIQUE (subject, notice, about)
    ) STRICT;
    CREATE INDEX owed_open ON owed (id) WHERE done_at IS NULL;

    CREATE TABLE orders (
        id INTEGER PRIMARY KEY,
        letter INTEGER, account TEXT,
        command TEXT NOT NULL CHECK (command IN ('hold', 'release', 'retry', 'cancel', 'pause', 'resume')),
        asked_at INTEGER NOT NULL,
        done_at INTEGER, refused INTEGER, answer TEXT,
        CHECK ((letter IS NULL) <> (account IS NULL))
    ) STRICT;
    CREATE INDEX orders_open ON orders (letter, id) WHERE done_at IS NULL;

    CREATE TABLE account (
        name TEXT PRIMARY KEY,
        problem TEXT NOT NULL CHECK (json_valid(problem)),
        since INTEGER NOT NULL, probe_at INTEGER, probes INTEGER NOT NULL
    ) STRICT;

    PRAGMA user_version = 1;
";

/// Drops: where their originals lie, and the folders they come from.
const ORIGINALS: &str = "
    ALTER TABLE letter ADD COLUMN sheets INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX letter_source ON letter (source, admitted_at);
    CREATE INDEX document_sha256 ON document (sha256);

    CREATE TABLE original (
        ulid TEXT PRIMARY KEY,
        folder TEXT NOT NULL,
        name BLOB NOT NULL,
        letter INTEGER UNIQUE REFERENCES letter,
        undecided TEXT CHECK (json_valid(undecided)),
        arrived_at INTEGER NOT NULL,
        place TEXT NOT NULL
            CHECK (place IN ('claim', 'held', 'sent', 'rejected', 'cancelled', 'gone')),
        shelved BLOB, moving BLOB, told TEXT,
        due_at INTEGER,
        changes INTEGER NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        trouble TEXT,
        CHECK ((letter IS NULL) <> (undecided IS NULL))
    ) STRICT;
    CREATE INDEX original_due ON original (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX original_shelf ON original (folder) WHERE shelved IS NOT NULL;

    CREATE TABLE folder (
        name TEXT PRIMARY KEY, path TEXT NOT NULL, id TEXT NOT NULL, since INTEGER NOT NULL, trouble TEXT
    ) STRICT;

    PRAGMA user_version = 2;
";

/// Indices that are used for every drop, whatever the number of letters: the letters that count towards a
/// folder's limits, and the originals on a shelf under a name.
const LOOKED_UP: &str = "
    DROP INDEX letter_source;
    CREATE INDEX letter_counted ON letter (source, admitted_at, sheets)
        WHERE state NOT IN ('held', 'withdrawn', 'cancelled');
    DROP INDEX original_shelf;
    CREATE INDEX original_shelved ON original (folder, shelved) WHERE shelved IS NOT NULL;

    PRAGMA user_version = 3;
";

/// News for people, and recurring times.
const TOLD: &str = "
    ALTER TABLE owed ADD COLUMN detail TEXT;
    CREATE TABLE email (
        id INTEGER PRIMARY KEY,
        recipient TEXT NOT NULL, kind TEXT NOT NULL, folder TEXT NOT NULL,
        first_at INTEGER NOT NULL, due_at INTEGER,
        begun_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0, trouble TEXT,
        done_at INTEGER, outcome TEXT CHECK (outcome IN ('sent', 'refused', 'obsolete')),
        CHECK ((due_at IS NULL) = (done_at IS NOT NULL)), CHECK ((done_at IS NULL) = (outcome IS NULL))
    ) STRICT;
    CREATE INDEX email_due ON email (due_at) WHERE due_at IS NOT NULL;
    CREATE TABLE email_item (
        email INTEGER NOT NULL REFERENCES email, owed INTEGER NOT NULL REFERENCES owed,
        PRIMARY KEY (email, owed)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE alarm (
        cause TEXT PRIMARY KEY, detail TEXT NOT NULL,
        since INTEGER NOT NULL, told_at INTEGER, fine_since INTEGER
    ) STRICT;

    CREATE TABLE schedule (
        name TEXT PRIMARY KEY, line TEXT NOT NULL, last_at INTEGER NOT NULL, due_at INTEGER NOT NULL
    ) STRICT;

    ALTER TABLE original ADD COLUMN owner INTEGER;
    CREATE TABLE sealed (
        letter INTEGER NOT NULL REFERENCES letter, n INTEGER NOT NULL,
        path BLOB, same INTEGER,
        due_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0, trouble TEXT,
        PRIMARY KEY (letter, n)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sealed_due ON sealed (due_at) WHERE due_at IS NOT NULL;
    ALTER TABLE letter ADD COLUMN discarded INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX letter_spooled ON letter (source, changed_at) WHERE discarded & 1 = 0
        AND due_at IS NULL AND state IN ('shipped', 'cancelled', 'withdrawn', 'closed');
    CREATE INDEX letter_shelved ON letter (source, changed_at) WHERE discarded & 2 = 0
        AND due_at IS NULL AND state IN ('shipped', 'cancelled', 'withdrawn', 'closed');
    CREATE INDEX letter_changed ON letter (changed_at);
    CREATE INDEX letter_arrived ON letter (source, admitted_at);

    PRAGMA user_version = 4;
";

/// Of a fact only the receiver and the names of files may change, and only to nothing.
const STRUCK: &str = "
    DROP TRIGGER facts_never_change;
    CREATE TRIGGER facts_never_change BEFORE UPDATE ON fact
        WHEN NEW.seq IS NOT OLD.seq OR NEW.letter IS NOT OLD.letter OR NEW.n IS NOT OLD.n
            OR json_extract(NEW.line, '$.fact.admitted.order.receiver.address.name') IS NOT ''
            OR json_remove(NEW.line, '$.fact.admitted.order.receiver', '$.fact.admitted.order.documents')
                IS NOT json_remove(OLD.line, '$.fact.admitted.order.receiver', '$.fact.admitted.order.documents')
            OR (SELECT json_group_array(json_remove(value, '$.name'))
                    FROM json_each(NEW.line, '$.fact.admitted.order.documents'))
                IS NOT (SELECT json_group_array(json_remove(value, '$.name'))
                    FROM json_each(OLD.line, '$.fact.admitted.order.documents'))
        BEGIN SELECT RAISE(ABORT, 'a fact never changes'); END;
    CREATE INDEX letter_named ON letter (source, changed_at) WHERE discarded & 4 = 0
        AND due_at IS NULL AND state IN ('shipped', 'cancelled', 'withdrawn', 'closed');
    DROP INDEX letter_state;
    CREATE INDEX letter_state ON letter (state, source);
    CREATE INDEX original_waiting ON original (place) WHERE letter IS NULL;

    PRAGMA user_version = 5;
";

/// An index for the oldest followed letter, whatever their number.
const FOLLOWED: &str = "
    CREATE INDEX letter_followed ON letter (admitted_at) WHERE state = 'confirmed';

    PRAGMA user_version = 6;
";

/// The number of letters of each kind, updated as they change. With a million letters they cannot be counted
/// each time.
const COUNTED: &str = "
    CREATE TABLE standing (
        state TEXT NOT NULL, source TEXT NOT NULL, letters INTEGER NOT NULL,
        PRIMARY KEY (state, source)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO standing SELECT state, source, count(*) FROM letter GROUP BY state, source;
    CREATE TRIGGER letter_is_new AFTER INSERT ON letter BEGIN
        INSERT INTO standing VALUES (NEW.state, NEW.source, 1)
            ON CONFLICT (state, source) DO UPDATE SET letters = letters + 1;
    END;
    CREATE TRIGGER letter_is_another AFTER UPDATE OF state, source ON letter
        WHEN NEW.state IS NOT OLD.state OR NEW.source IS NOT OLD.source
    BEGIN
        UPDATE standing SET letters = letters - 1 WHERE state = OLD.state AND source = OLD.source;
        INSERT INTO standing VALUES (NEW.state, NEW.source, 1)
            ON CONFLICT (state, source) DO UPDATE SET letters = letters + 1;
    END;
    CREATE TRIGGER letter_is_gone AFTER DELETE ON letter BEGIN
        UPDATE standing SET letters = letters - 1 WHERE state = OLD.state AND source = OLD.source;
    END;

    PRAGMA user_version = 7;
";

/// A folder is its marker and its directory. Its name may change, and everything under the old name goes
/// along. A file that stands for a command is obeyed once.
const RENAMED: &str = "
    ALTER TABLE folder ADD COLUMN directory TEXT;
    CREATE TABLE renamed (old TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE heard (letter INTEGER NOT NULL, file TEXT NOT NULL, PRIMARY KEY (letter, file)) STRICT, WITHOUT ROWID;

    PRAGMA user_version = 8;
";

/// The SHA-256 of the PDF of a drop that is not a letter, so that another file of its name is not taken for
/// it.
const RECOGNISED: &str = "
    ALTER TABLE original ADD COLUMN content TEXT;

    PRAGMA user_version = 9;
";

/// The inode of an original on its shelf, which distinguishes a moved file from a copy.
const TOLD_APART: &str = "
    ALTER TABLE original ADD COLUMN inode INTEGER;

    PRAGMA user_version = 10;
";

/// What queues took: its key, and the answer that it had. Neither contains a name, so both outlive the letter's
/// history. What was refused has no key any more.
const TAKEN_BY_QUEUES: &str = "
    CREATE TABLE incoming (
        ulid TEXT PRIMARY KEY,
        queue TEXT NOT NULL, key TEXT, content TEXT NOT NULL,
        folder TEXT NOT NULL, owner INTEGER, look TEXT,
        taken_at INTEGER NOT NULL,
        marked INTEGER NOT NULL DEFAULT 0,
        answer TEXT CHECK (json_valid(answer)),
        acknowledged TEXT,
        UNIQUE (key, queue)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX incoming_unmarked ON incoming (folder, ulid) WHERE marked = 0;
    CREATE TABLE queue (
        name TEXT PRIMARY KEY, token TEXT NOT NULL, is_open INTEGER NOT NULL,
        former TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(former)),
        taken INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;

    PRAGMA user_version = 11;
";

/// Mails, each by its number in its mailbox, and how far it was followed. Its subject and its sender are removed when
/// nothing is left to do about it.
const MAILED: &str = "
    ALTER TABLE incoming ADD COLUMN mailed TEXT CHECK (json_valid(mailed));
    CREATE TABLE mailbox (id TEXT PRIMARY KEY, validity INTEGER NOT NULL, first INTEGER NOT NULL)
        STRICT, WITHOUT ROWID;
    CREATE TABLE mailed (
        id INTEGER PRIMARY KEY,
        mailbox TEXT NOT NULL, validity INTEGER NOT NULL, uid INTEGER NOT NULL,
        message_id TEXT, bytes TEXT NOT NULL, size INTEGER NOT NULL, content TEXT NOT NULL,
        sender TEXT, thread TEXT,
        taken_at INTEGER NOT NULL,
        refused TEXT CHECK (json_valid(refused)),
        letters TEXT NOT NULL CHECK (json_valid(letters)),
        shelf TEXT, visit TEXT, told TEXT,
        is_closed INTEGER NOT NULL DEFAULT 0,
        UNIQUE (mailbox, validity, uid)
    ) STRICT;
    CREATE INDEX mailed_open ON mailed (mailbox, id) WHERE is_closed = 0;
    CREATE INDEX mailed_message ON mailed (message_id);
    CREATE INDEX mailed_content ON mailed (content);
    CREATE INDEX mailed_bytes ON mailed (bytes);

    PRAGMA user_version = 12;
";
/// The letters of a mail may be `null`, which older programs can't read.
const BEGUN: &str = "PRAGMA user_version = 13;";
/// Claims in the folders may be files, which older programs don't know.
const CLAIMED_AS_FILES: &str = "PRAGMA user_version = 14;";
/// The e-mails to which news can still be added, for each recipient. A flood makes thousands of them.
const COLLECTED: &str = "
    CREATE INDEX email_collected ON email (recipient, kind, folder)
        WHERE due_at IS NOT NULL AND begun_at IS NULL;

    PRAGMA user_version = 15;
";
/// The beginning of a hash of the receiver's name beside the document's, because one document may go to thousands. It is
/// empty if the receiver is not known or was removed. And an index by which news without e-mails are found.
const SENT_TO: &str = "
    ALTER TABLE document ADD COLUMN receiver TEXT NOT NULL DEFAULT '';
    DROP INDEX document_sha256;
    CREATE INDEX document_sent ON document (sha256, receiver);
    CREATE INDEX email_item_owed ON email_item (owed);

    PRAGMA user_version = 16;
";
/// What may be posted already in a folder. Older versions did not record which folders were copied or put back.
const EARLIER: &str =
    "ALTER TABLE folder ADD COLUMN posted_before INTEGER; UPDATE folder SET posted_before = since;
    PRAGMA user_version = 17;";
/// One step for each version. Each ends by setting the next version.
pub(super) const STEPS: [&str; 20] = [
    TABLES,
    ORIGINALS,
    LOOKED_UP,
    TOLD,
    STRUCK,
    FOLLOWED,
    COUNTED,
    RENAMED,
    RECOGNISED,
    TOLD_APART,
    TAKEN_BY_QUEUES,
    MAILED,
    BEGUN,
    CLAIMED_AS_FILES,
    COLLECTED,
    SENT_TO,
    EARLIER,
    COMPARED,
    COUNTED_TOGETHER,
    HELD,
];
