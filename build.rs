//! Addresses that the loader has to adjust are kept packed: the table of them is a megabyte smaller, on the disk
//! and in memory. Loaders before glibc 2.36 don't know how, so it is only done on a machine whose does.

use std::env::var;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| var(key).is_ok_and(|set| set == value);
    let native = var("HOST").is_ok() && var("HOST") == var("TARGET");
    if native && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && unpacks() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether this machine's loader reads them: `glibc 2.36` or later.
fn unpacks() -> bool {
    let Ok(told) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let version = text.trim().strip_prefix("glibc 2.").and_then(|minor| minor.parse::<u32>().ok());
    version.is_some_and(|minor| minor >= 36)
}
