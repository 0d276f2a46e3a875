//! `--data`: what was answered with success survives a restart, a `kill -9`, and nothing half does.

use std::path::Path;
use std::sync::Mutex;

use reqwest::Client;
use serde_json::Value;

use crate::rigs::program::Program;
use crate::rigs::service::{Service, letter, pdf, problem};
use mailchute::outside::api::wire::{CreatedMail, DownloadTarget, Status};
use mailchute::sandbox::{self, Options};

fn kept_in(dir: &Path) -> Options {
    Options { data: Some(dir.to_owned()), ..Options::default() }
}

fn pdfs(dir: &Path) -> usize {
    std::fs::read_dir(dir.join("pdf")).unwrap().count()
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let (draft, confirmed, cancelled) = (
        service.uploaded(&letter()).await,
        service.confirmed(&letter()).await,
        service.confirmed(&letter()).await,
    );
    assert_eq!(service.cancel(&cancelled.id).await.status(), 204);
    service.advance("10m").await;
    let (id, secret, token) =
        (service.welcome.client_id.clone(), service.secret().to_owned(), service.token.clone());
    let events = service.events(&confirmed.id).await;
    service.stop().await;

    let mut service = Service::with(kept_in(dir.path())).await;
    // The same credentials are told again, the old token still opens, the clock went on from there.
    assert_eq!((&service.welcome.client_id, service.secret()), (&id, secret.as_str()));
    service.token = token;
    assert_eq!(service.read(&draft.id).await.status, Status::Pending);
    assert_eq!(service.read(&confirmed.id).await.status, Status::Confirmed);
    assert_eq!(service.read(&cancelled.id).await.status, Status::Cancelled);
    assert_eq!(service.events(&confirmed.id).await, events);
    let path = format!("/v1/mails/{}/contents/{}/pdf", confirmed.id, confirmed.contents[0].id);
    let target: DownloadTarget = service.get(&path).await.json().await.unwrap();
    assert_eq!(service.http.get(&target.url).send().await.unwrap().bytes().await.unwrap(), pdf(1));
    // Time goes on too: the draft ends, the letter ships.
    service.advance("20m").await;
    problem(service.get(&format!("/v1/mails/{}", draft.id)).await, 404, "mail_not_found").await;
    service.advance("10days").await;
    service.log_in().await;
    assert_eq!(service.read(&confirmed.id).await.status, Status::Shipped);
}

#[tokio::test]
async fn pdfs_are_sealed_kept_and_discarded_as_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let mail = service.uploaded(&letter()).await;
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(1)).await.status(), 204);
    assert_eq!(pdfs(dir.path()), 1, "the replaced upload is gone");
    let refused = service.upload(&mail.contents[0].upload, Vec::new()).await;
    assert_eq!((refused.status().as_u16(), pdfs(dir.path())), (400, 1));
    assert_eq!(service.confirm(&mail.id).await.status(), 204);
    let file = std::fs::read_dir(dir.path().join("pdf")).unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o222, 0, "a sealed PDF is read-only");
    service.uploaded(&letter()).await;
    assert_eq!(pdfs(dir.path()), 2);
    service.advance("30m").await;
    assert_eq!(pdfs(dir.path()), 1, "the PDF of the deleted mail is gone");
}

#[tokio::test]
async fn a_crash_between_confirming_and_sealing_is_mended_at_the_next_start() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    service.confirmed(&letter()).await;
    service.stop().await;
    let file = std::fs::read_dir(dir.path().join("pdf")).unwrap().next().unwrap().unwrap().path();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(dir.path().join(format!("pdf/b{}.part", "0".repeat(24))), "half").unwrap();
    std::fs::write(dir.path().join(format!("pdf/b{}.pdf", "1".repeat(24))), "unknown").unwrap();
    let _service = Service::with(kept_in(dir.path())).await;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o400);
    assert_eq!(pdfs(dir.path()), 1, "what nobody knows is gone");
}

#[tokio::test]
async fn files_of_others_are_left_alone_and_ours_are_for_us_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("pdf/lost+found")).unwrap();
    std::fs::write(dir.path().join("pdf/thesis.pdf"), "mine").unwrap();
    std::fs::write(dir.path().join("lock"), "mine too").unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    service.confirmed(&letter()).await;
    assert_eq!(std::fs::read(dir.path().join("pdf/thesis.pdf")).unwrap(), b"mine");
    assert_eq!(std::fs::read(dir.path().join("lock")).unwrap(), b"mine too");
    for name in ["sandbox.db", "sandbox.db-wal", "first-client.json"] {
        let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} is for others too");
    }
}

#[tokio::test]
async fn a_fast_clock_goes_on_over_a_kill_and_never_back() {
    let dir = tempfile::tempdir().unwrap();
    mailchute::outside::api::install_tls();
    let start = || Program::sandbox(&["--clock", "x3600", "--data", dir.path().to_str().unwrap()]);
    let now = async |welcome: &Value| {
        let url = format!("{}/clock", welcome["control_url"].as_str().unwrap());
        let clock: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        chrono::DateTime::parse_from_rfc3339(clock["now"].as_str().unwrap()).unwrap()
    };
    let (mut program, welcome) = start();
    let first = now(&welcome).await;
    let mut told = first;
    // Nothing is called that would be kept: the clock only runs.
    while told - first < chrono::TimeDelta::minutes(5) {
        told = now(&welcome).await;
    }
    program.kill();
    let (_program, welcome) = start();
    assert!(now(&welcome).await >= told, "the clock went back");
}

#[tokio::test]
async fn what_fell_due_while_the_program_was_away_happens_at_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let (mail, draft) = (service.confirmed(&letter()).await, service.create(&letter()).await);
    service.stop().await;
    // As if it had run in real time and been away for ten days.
    let db = rusqlite::Connection::open(dir.path().join("sandbox.db")).unwrap();
    db.execute("UPDATE world SET pace = 'real', wall = wall - 10 * 24 * 3600 * 1000", []).unwrap();
    drop(db);
    let service = Service::with(kept_in(dir.path())).await;
    let read = service.read(&mail.id).await;
    assert_eq!((read.status, read.shipped_at), (Status::Shipped, Some(mail.scheduled_to_ship_at)));
    assert_eq!(service.events(&draft.id).await, ["created", "deleted"]);
    let url = format!("ledger?mail={}", draft.id);
    let ledger: Value = service.control(reqwest::Method::GET, &url, Value::Null).await.json().await.unwrap();
    let deleted = ledger["entries"][1]["at"].as_str().unwrap();
    assert_eq!(chrono::DateTime::parse_from_rfc3339(deleted).unwrap(), draft.confirm_by);
}

#[tokio::test]
async fn the_first_client_is_told_again_and_a_lost_secret_is_told_as_null() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let (id, secret) = (service.welcome.client_id.to_string(), service.secret().to_owned());
    service.stop().await;
    let service = Service::with(kept_in(dir.path())).await;
    assert_eq!(service.secret(), secret);
    let path = format!("clients/{id}/secret");
    assert_eq!(service.control(reqwest::Method::POST, &path, serde_json::json!({})).await.status(), 201);
    service.stop().await;
    let (_program, welcome) = Program::sandbox(&["--data", dir.path().to_str().unwrap()]);
    assert_eq!((&welcome["client_id"], &welcome["client_secret"]), (&Value::from(id), &Value::Null));
}

#[tokio::test]
async fn a_client_that_is_refused_costs_the_first_one_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let secret = service.secret().to_owned();
    for name in ["two", "three", "four", "five"] {
        let body = serde_json::json!({"name": name, "agree_to_terms": true});
        assert_eq!(service.control(reqwest::Method::POST, "clients", body).await.status(), 201);
    }
    service.stop().await;
    let sixth = Some(("sixth".to_owned(), mailchute::base::secret::Secret::new("s")));
    let options = Options { client: sixth, ..kept_in(dir.path()) };
    let refused = sandbox::start(options, std::future::pending()).await.unwrap_err();
    assert!(refused.to_string().contains("at most 5 clients"), "{refused}");
    // As after a crash just before the new credentials were settled: both files are there.
    assert!(dir.path().join("first-client.next.json").exists());
    let (_program, welcome) = Program::sandbox(&["--data", dir.path().to_str().unwrap()]);
    assert_eq!(welcome["client_secret"], secret);
}

#[tokio::test]
async fn a_sealed_pdf_that_was_changed_on_disk_is_not_given_out() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let mail = service.confirmed(&letter()).await;
    let file = std::fs::read_dir(dir.path().join("pdf")).unwrap().next().unwrap().unwrap().path();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&file, pdf(2)).unwrap();
    let path = format!("/v1/mails/{}/contents/{}/pdf", mail.id, mail.contents[0].id);
    let target: DownloadTarget = service.get(&path).await.json().await.unwrap();
    assert_eq!(service.http.get(&target.url).send().await.unwrap().status(), 500);
}

#[tokio::test]
async fn secrets_and_tokens_are_not_in_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    service.confirmed(&letter()).await;
    let secrets = [service.secret().to_owned(), service.token.clone()];
    service.stop().await;
    for name in ["sandbox.db", "sandbox.db-wal"] {
        let bytes = std::fs::read(dir.path().join(name)).unwrap_or_default();
        for secret in &secrets {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{name}");
        }
    }
}

#[tokio::test]
async fn a_second_sandbox_and_a_newer_database_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let second = sandbox::start(kept_in(dir.path()), std::future::pending()).await.unwrap_err();
    assert!(format!("{:#}", anyhow::Error::from(second)).contains("another sandbox is using"));
    service.stop().await;
    let db = rusqlite::Connection::open(dir.path().join("sandbox.db")).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let newer = sandbox::start(kept_in(dir.path()), std::future::pending()).await.unwrap_err();
    assert!(format!("{:#}", anyhow::Error::from(newer)).contains("written by a newer mailchute"));
}

fn start(dir: &Path) -> (Program, String) {
    mailchute::outside::api::install_tls();
    let (program, welcome) = Program::sandbox(&["--client", "id:secret", "--data", dir.to_str().unwrap()]);
    (program, welcome["base_url"].as_str().unwrap().to_owned())
}

/// What a worker was told had succeeded, mail by mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Created,
    Uploaded,
    Confirmed,
    Cancelled,
}

async fn token(http: &Client, origin: &str) -> Option<String> {
    let form = [("grant_type", "client_credentials"), ("scope", "mails:read mails:write")];
    let answer =
        http.post(format!("{origin}/auth/token")).basic_auth("id", Some("secret")).form(&form).send();
    let body: Value = answer.await.ok()?.json().await.ok()?;
    Some(body["access_token"].as_str()?.to_owned())
}

/// Posts letters until the service is gone, noting each success it was told of.
async fn work(
    http: Client,
    origin: &str,
    worker: usize,
    told: &Mutex<Vec<(CreatedMail, Told)>>,
) -> Option<()> {
    let token = token(&http, origin).await?;
    let note = |mail: &CreatedMail, what: Told| told.lock().unwrap().push((mail.clone(), what));
    for n in worker.. {
        let answer = http.post(format!("{origin}/v1/mails")).bearer_auth(&token).json(&letter()).send();
        let answer = answer.await.ok()?;
        assert_eq!(answer.status(), 201);
        let mail: CreatedMail = answer.json().await.ok()?;
        note(&mail, Told::Created);
        let fields = mail.contents[0].upload.fields.iter();
        let form = fields.fold(reqwest::multipart::Form::new(), |form, (name, value)| {
            form.text(name.clone(), value.clone())
        });
        let form = form.part("file", reqwest::multipart::Part::bytes(pdf(1)));
        let answer = http.post(&mail.contents[0].upload.url).multipart(form).send().await.ok()?;
        assert_eq!(answer.status(), 204);
        note(&mail, Told::Uploaded);
        for (step, what) in [("confirm", Told::Confirmed), ("cancel", Told::Cancelled)] {
            if what == Told::Cancelled && n % 2 == 0 {
                continue;
            }
            let url = format!("{origin}/v1/mails/{}/{step}", mail.id);
            let answer = http.post(url).bearer_auth(&token).send().await.ok()?;
            assert_eq!(answer.status(), 204);
            note(&mail, what);
        }
    }
    Some(())
}

/// Everything that was told is there, and what was not told is there wholly or not at all.
async fn check(http: &Client, origin: &str, told: &[(CreatedMail, Told)]) {
    let token = token(http, origin).await.unwrap();
    for (mail, what) in told {
        let url = format!("{origin}/v1/mails/{}", mail.id);
        let answer = http.get(&url).bearer_auth(&token).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{what:?} {}", mail.id);
        let shown: Value = answer.json().await.unwrap();
        let status = shown["status"].as_str().unwrap();
        let fits: &[&str] = match what {
            Told::Created | Told::Uploaded => &["pending", "confirmed", "cancelled"],
            Told::Confirmed => &["confirmed", "cancelled"],
            Told::Cancelled => &["cancelled"],
        };
        assert!(fits.contains(&status), "{what:?} but {status}");
        let uploaded = http.get(format!("{origin}/inbox/{}/1", mail.id)).send().await.unwrap();
        if *what >= Told::Uploaded {
            assert_eq!(uploaded.status(), 200, "{what:?} {}", mail.id);
        }
        if uploaded.status() == 200 {
            assert_eq!(uploaded.bytes().await.unwrap(), pdf(1));
        }
        let ledger: Value = http
            .get(format!("{origin}/_sandbox/ledger?mail={}", mail.id))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap();
        let entries = ledger["entries"].as_array().unwrap();
        let count = |event: &str| entries.iter().filter(|entry| entry["event"] == event).count();
        assert_eq!(count("created"), 1);
        assert_eq!(count("authorized"), usize::from(status != "pending"));
        assert_eq!(count("released"), usize::from(status == "cancelled"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_succeeded_is_lost_when_the_program_is_killed_under_load() {
    let dir = tempfile::tempdir().unwrap();
    let told = Mutex::new(Vec::new());
    for round in 0..6 {
        let (mut program, origin) = start(dir.path());
        let http = Client::new();
        let before = told.lock().unwrap().len();
        let enough = before + 37 + 29 * round;
        let workers = (0..6).map(|worker| work(http.clone(), &origin, worker, &told));
        let working = futures_util::future::join_all(workers);
        let killing = async {
            while told.lock().unwrap().len() < enough {
                tokio::task::yield_now().await;
            }
            program.kill();
        };
        tokio::join!(working, killing);
        assert!(told.lock().unwrap().len() >= enough);
        let (_program, origin) = start(dir.path());
        let so_far = told.lock().unwrap().clone();
        check(&Client::new(), &origin, &so_far).await;
    }
    let confirmed = told.lock().unwrap().iter().filter(|(_, what)| *what == Told::Confirmed).count();
    assert!(confirmed > 50, "only {confirmed} letters were confirmed, so little was proved");
}

#[tokio::test]
async fn a_full_disk_refuses_uploads_or_ends_the_sandbox_with_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let service = Service::with(kept_in(dir.path())).await;
    let mail = service.create(&letter()).await;
    // The directory for PDFs can't take another file.
    std::fs::remove_dir(dir.path().join("pdf")).unwrap();
    let refused = service.upload(&mail.contents[0].upload, pdf(1)).await;
    assert_eq!(refused.status(), 500);
    assert!(refused.text().await.unwrap().contains("<Code>InternalError</Code>"));
    std::fs::create_dir(dir.path().join("pdf")).unwrap();
    assert_eq!(service.upload(&mail.contents[0].upload, pdf(1)).await.status(), 204);
    // The database can't take another row: no success may be answered, and the sandbox ends.
    let other = rusqlite::Connection::open(dir.path().join("sandbox.db")).unwrap();
    other
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'disk full'); END",
        )
        .unwrap();
    let answer = service.confirm(&mail.id).await;
    problem(answer, 500, "internal_server_error").await;
    let ended = service.ended().await;
    assert!(ended.is_err_and(|halted| halted.to_string().contains("can't write to its data directory")));
}
