//! Measures processor time and memory of the processes from the outside.

use std::time::Duration;

use super::client::Service;

/// The resources that a process has used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Used {
    /// Processor time of all its threads since its start.
    pub(super) cpu: Duration,
    /// Resident memory, in bytes.
    pub(super) resident: u64,
}

/// The source of the figures.
#[derive(Debug, Clone)]
pub(super) enum Meter {
    /// A process of this machine.
    Process(u32),
    /// The standard metrics of a process, as Prometheus reads them.
    Metrics(Service),
}

impl Meter {
    /// The resources used so far; `None` when the system, or the service, does not report them.
    pub(super) async fn read(&self) -> Option<Used> {
        match self {
            Self::Process(pid) => of_process(*pid),
            Self::Metrics(service) => of_metrics(&service.metrics().await?),
        }
    }
}

/// What several processes used together; `None` when one of them is not known.
pub(super) async fn together(meters: &[Meter]) -> Option<Used> {
    let mut sum: Option<Used> = None;
    for meter in meters {
        let used = meter.read().await?;
        let so_far = sum.unwrap_or_default();
        sum = Some(Used { cpu: so_far.cpu + used.cpu, resident: so_far.resident + used.resident });
    }
    sum
}

/// From `/proc`.
#[cfg(target_os = "linux")]
fn of_process(pid: u32) -> Option<Used> {
    let process = procfs::process::Process::new(i32::try_from(pid).ok()?).ok()?;
    let stat = process.stat().ok()?;
    let ticks = (stat.utime + stat.stime) as f64 / procfs::ticks_per_second().max(1) as f64;
    Some(Used { cpu: Duration::try_from_secs_f64(ticks).ok()?, resident: stat.rss * procfs::page_size() })
}

/// There is no `/proc` here.
#[cfg(not(target_os = "linux"))]
fn of_process(_: u32) -> Option<Used> {
    None
}

fn of_metrics(text: &str) -> Option<Used> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line?.split_whitespace().next()?.parse::<f64>().ok()
    };
    let cpu = Duration::try_from_secs_f64(value("process_cpu_seconds_total")?).ok()?;
    let resident = value("process_resident_memory_bytes")?.max(0.0) as u64;
    Some(Used { cpu, resident })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_metrics_of_a_process_are_read_from_prometheus_text() {
        let text = "# HELP process_cpu_seconds_total x\nprocess_cpu_seconds_total 12.5\n\
                    process_resident_memory_bytes 1048576\nprocess_resident_memory_bytes_more 7\n";
        let used = Used { cpu: Duration::from_millis(12_500), resident: 1 << 20 };
        assert_eq!(of_metrics(text), Some(used));
        assert_eq!(of_metrics("process_resident_memory_bytes 5\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_memory() {
        assert!(of_process(std::process::id()).unwrap().resident > 1 << 20);
        assert_eq!(of_process(u32::MAX), None);
    }
}
