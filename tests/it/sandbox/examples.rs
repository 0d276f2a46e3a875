//! The examples in docs/sandbox.md, as they stand there.

use std::path::Path;
use std::process::Command;

use reqwest::Method;

use crate::rigs::browser::skipped;
use crate::rigs::service::{Service, letter};

fn block(language: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sandbox.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once(&format!("\n```{language}\n")).unwrap();
    rest.split_once("\n```").unwrap().0.to_owned()
}

/// The lines of the empty inbox that post a letter.
async fn lines(service: &Service) -> String {
    let page = service.plain(Method::GET, "/inbox").send().await.unwrap().text().await.unwrap();
    let (_, rest) = page.split_once("<pre id=\"block\" tabindex=\"0\">").unwrap();
    let escaped = rest.split_once("</pre>").unwrap().0;
    let signs =
        [("&#x2f;", "/"), ("&quot;", "\""), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    signs.iter().fold(escaped.to_owned(), |text, (name, sign)| text.replace(name, sign))
}

async fn runs(program: &str, ending: &str, language: &str, before: &str, after: &str) {
    for needed in [program, "curl", "bash"] {
        if Command::new(needed).arg("--version").output().is_err() {
            skipped(needed);
            return;
        }
    }
    let service = Service::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("post.sh"), lines(&service).await).unwrap();
    let file = dir.path().join(format!("example.{ending}"));
    std::fs::write(&file, format!("{before}{}\n{after}", block(language))).unwrap();
    // What was there before is removed by the example.
    service.create(&letter()).await;
    let mut command = Command::new(program);
    command.arg(&file).current_dir(dir.path()).env("SANDBOX", &service.welcome.places.base_url);
    let done = tokio::task::block_in_place(|| command.output().unwrap());
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.trim() == "passed",
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_in_python_runs() {
    let after = "import subprocess\ntest_a_letter_is_posted(lambda: subprocess.run(['bash', '-eu', 'post.sh'], check=True))\n\
                 print('passed')\n";
    runs("python3", "py", "python", "", after).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_in_node_runs() {
    let before = "import { execFileSync } from \"node:child_process\";\n";
    let after = "await aLetterIsPosted(() => execFileSync(\"bash\", [\"-eu\", \"post.sh\"]));\nconsole.log(\"passed\");\n";
    runs("node", "mjs", "js", before, after).await;
}

async fn a_letter_is_posted(control: &str, post_a_letter: impl AsyncFnOnce()) -> reqwest::Result<()> {
    let http = reqwest::Client::new();
    http.post(format!("{control}/reset")).send().await?.error_for_status()?;
    post_a_letter().await; // what your program does
    let answer = http.get(format!("{control}/wait?state=confirmed&q=letter.pdf")).send().await?;
    let found: serde_json::Value = answer.error_for_status()?.json().await?;
    assert_eq!(found["letters"][0]["receiver_address"]["name"], "山田 太郎");
    assert_eq!(found["letters"][0]["documents"][0]["pages"], 1);
    Ok(())
}

#[tokio::test]
async fn the_example_in_rust_runs() {
    let here = include_str!("examples.rs");
    assert!(here.contains(&block("rust")), "the document shows something else");
    let service = Service::start().await;
    service.create(&letter()).await;
    let posted = async || {
        service.confirmed(&letter()).await;
    };
    a_letter_is_posted(&service.welcome.places.control_url, posted).await.unwrap();
}
