//! Processes that a test starts and that never outlive it.
//!
//! A guard kills its process when it is dropped, so a test that fails leaves none behind. A guard is not dropped when
//! the whole test program is killed: for that case the processes run with `--end-with-input`, and the guard holds the
//! other end of the pipe at their input.

use std::io::{BufRead as _, BufReader};
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Output, Stdio};

/// A process that is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct OwnedChild(Option<Child>);

impl OwnedChild {
    /// Starts the process, with a pipe at its input that ends with this guard.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self(Some(command.stdin(Stdio::piped()).spawn().unwrap()))
    }

    /// The first line of its output, without what follows.
    pub(crate) fn first_line(&mut self) -> String {
        let mut first = String::new();
        BufReader::new(self.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        first
    }

    /// Ends it as a crash does, and waits until it is gone.
    pub(crate) fn crash(&mut self) {
        self.kill().unwrap();
        self.wait().unwrap();
    }

    /// Waits until it ends by itself, and reads the rest of its output.
    pub(crate) fn wait_with_output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Deref for OwnedChild {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for OwnedChild {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // The process may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn is_there(process: u32) -> bool {
        std::path::Path::new(&format!("/proc/{process}")).exists()
    }

    #[test]
    fn a_test_that_fails_leaves_no_process_behind() {
        let (tell, told) = std::sync::mpsc::channel();
        let failing = std::thread::spawn(move || {
            let child = OwnedChild::spawn(&mut Command::new("cat"));
            tell.send(child.id()).unwrap();
            panic!("this panic is part of the test");
        });
        let process = told.recv().unwrap();
        assert!(failing.join().is_err());
        assert!(!is_there(process), "the process outlived its test");
    }

    /// `cat` stands for a program with `--end-with-input`.
    #[test]
    fn a_process_at_the_end_of_its_input_is_not_held_up_by_its_guard() {
        let mut child = OwnedChild::spawn(Command::new("cat").stdout(Stdio::piped()));
        drop(child.stdin.take());
        assert!(child.wait_with_output().status.success());
    }
}
