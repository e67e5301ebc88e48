//! Tells the linker to pack the program's relative relocations, which are 4 MB otherwise.
//!
//! A C library of version 2.36 or later unpacks them. So they are packed only in a program for the machine that builds it,
//! and only if its library is that new; other builds are as large as usual. A linker that cannot pack them says so in a
//! warning, and links.

use std::env;
use std::process::Command;

/// The first version of glibc that unpacks them, by its list of changes.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_for_this_machine = env::var_os("TARGET") == env::var_os("HOST");
    if is_for_this_machine && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's C library; `None` if it is not glibc.
fn glibc() -> Option<(u32, u32)> {
    let answer = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let answer = String::from_utf8(answer.stdout).ok()?;
    let (major, minor) = answer.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
