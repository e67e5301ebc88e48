//! The resident memory of the service over time, and how fast it grows.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

/// Pause between two samples.
const EVERY: Duration = Duration::from_secs(1);
/// The beginning of a process's life, which is left out of the growth.
const WARM_UP: Duration = Duration::from_secs(30);

/// Samples of the present process. Of a killed process, only the highest sample is kept.
#[derive(Debug, Clone)]
pub(crate) struct Memory(Arc<Mutex<Samples>>);

#[derive(Debug, Default)]
struct Samples {
    pid: u32,
    begun: Option<Instant>,
    /// Seconds since the beginning, and MiB.
    points: Vec<(f64, f64)>,
    newest: f64,
    most: f64,
}

/// The figures of the samples.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Figures {
    /// The most in MiB, of all processes.
    pub(crate) most_mib: f64,
    /// The last process's growth after its warm-up, by least squares; `None` if its life was too short.
    pub(crate) mib_per_hour: Option<f64>,
    /// The seconds over which the growth was measured.
    pub(crate) seconds: f64,
}

impl Memory {
    /// Takes samples of the process `pid` from now on; 0 stands for no process.
    pub(crate) fn watch(pid: Arc<AtomicU32>) -> Self {
        let samples = Arc::new(Mutex::new(Samples::default()));
        let taking = Arc::downgrade(&samples);
        tokio::spawn(async move {
            while let Some(samples) = taking.upgrade() {
                let pid = pid.load(Ordering::Relaxed);
                if let Some(mib) = resident_mib(pid) {
                    samples.lock().unwrap().note(pid, mib);
                }
                drop(samples);
                tokio::time::sleep(EVERY).await;
            }
        });
        Self(samples)
    }

    /// The newest sample in MiB.
    pub(crate) fn newest(&self) -> f64 {
        self.0.lock().unwrap().newest
    }

    /// The figures of the samples so far.
    pub(crate) fn figures(&self) -> Figures {
        let samples = self.0.lock().unwrap();
        let points: Vec<_> =
            samples.points.iter().filter(|(at, _)| *at >= WARM_UP.as_secs_f64()).copied().collect();
        let seconds = points.last().zip(points.first()).map_or(0.0, |(last, first)| last.0 - first.0);
        let slope = (seconds >= WARM_UP.as_secs_f64()).then(|| slope(&points) * 3_600.0);
        Figures { most_mib: samples.most, mib_per_hour: slope, seconds }
    }
}

impl Samples {
    fn note(&mut self, pid: u32, mib: f64) {
        if pid != self.pid {
            self.pid = pid;
            self.begun = None;
            self.points.clear();
        }
        let begun = *self.begun.get_or_insert_with(Instant::now);
        self.points.push((begun.elapsed().as_secs_f64(), mib));
        self.newest = mib;
        self.most = self.most.max(mib);
    }
}

/// The slope of the line that fits best.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    covariance / variance
}

/// The resident memory of a process; `None` when it is gone.
fn resident_mib(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib / 1_024.0)
}
