//! demo
use std::future::Future;
pub async fn run(
    _once: bool,
    _stop: impl Future<Output = ()> + Send + 'static,
    _say: impl Fn(&str) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    Ok(())
}
