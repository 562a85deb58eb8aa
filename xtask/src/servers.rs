//! Spark's own history server and ours, started on a folder of logs and stopped when dropped.
#![expect(
    clippy::disallowed_methods,
    reason = "a program for developers: it waits for other programs"
)]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::http::Client;
use crate::json::Json;

const POLL: Duration = Duration::from_millis(100);
/// A list of applications that has not changed for so long is complete.
const QUIET: Duration = Duration::from_secs(4);
/// A server that has not ended after so long is killed.
const STOPPING: Duration = Duration::from_mins(1);
/// What ours says when it answers.
const READY: &str = "listening on ";
/// Settings that keep a server from forgetting what it is asked about; `lab/shs.sh` sets the same.
const RETENTION: [(&str, &str); 8] = [
    ("spark.ui.retainedJobs", "1000000"),
    ("spark.ui.retainedStages", "1000000"),
    ("spark.ui.retainedTasks", "10000000"),
    ("spark.ui.retainedDeadExecutors", "1000000"),
    ("spark.sql.ui.retainedExecutions", "1000000"),
    ("spark.sql.streaming.ui.retainedQueries", "1000000"),
    ("spark.sql.streaming.ui.retainedProgressUpdates", "1000000"),
    ("spark.history.retainedApplications", "500"),
];

/// A server that runs.
pub struct Server {
    child: Child,
    pub base_url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// How Spark's server is started.
pub struct Spark<'a> {
    pub home: &'a Path,
    /// Heap of its Java machine, as `2g`.
    pub heap: &'a str,
    /// Folder for its settings and what it says.
    pub work: &'a Path,
    /// Settings beyond those that keep it from forgetting.
    pub settings: &'a [(&'a str, &'a str)],
}

impl Spark<'_> {
    /// Starts it; it answers some seconds later.
    ///
    /// # Errors
    /// When the program is not there or a file cannot be written.
    pub fn start(&self, logs: &Path) -> Outcome<Server> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        fs::create_dir_all(self.work)?;
        let mut settings = format!(
            "spark.history.fs.logDirectory file://{}\nspark.history.ui.port {port}\n",
            fs::canonicalize(logs)?.display()
        );
        for (key, value) in RETENTION {
            settings.extend([key, " ", value, "\n"]);
        }
        for (key, value) in self.settings {
            settings.extend([key, " ", value, "\n"]);
        }
        let file = fs::canonicalize(self.work)?.join("server.conf");
        fs::write(&file, settings)?;
        let said = File::create(self.work.join("server.log"))?;
        let home = fs::canonicalize(self.home)
            .map_err(|e| format!("no Spark in {}: {e}", self.home.display()))?;
        let child = Command::new(home.join("bin/spark-class"))
            .args(["org.apache.spark.deploy.history.HistoryServer", "--properties-file"])
            .arg(file)
            .env("SPARK_HOME", &home)
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            .env("SPARK_DAEMON_MEMORY", self.heap)
            .env("SPARK_HISTORY_OPTS", "")
            .env("SPARK_DAEMON_JAVA_OPTS", "")
            .stdin(Stdio::null())
            .stderr(said.try_clone()?)
            .stdout(said)
            .spawn()?;
        Ok(Server { child, base_url: format!("http://127.0.0.1:{port}") })
    }
}

/// Starts ours on any port and waits until it says that it listens.
///
/// # Errors
/// When it ends before, with what it said.
pub fn afterspark(program: &Path, logs: &Path, more: &[&str]) -> Outcome<Server> {
    let mut child = Command::new(program)
        .arg("serve")
        .arg(logs)
        .args(["--port", "0"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run {}: {e}", program.display()))?;
    let stderr = child.stderr.take();
    // From here on an error stops it.
    let mut server = Server { child, base_url: String::new() };
    let mut lines = BufReader::new(stderr.ok_or("no stderr")?).lines();
    let mut said = Vec::new();
    for line in lines.by_ref() {
        let line = line?;
        if let Some((_, url)) = line.split_once(READY) {
            url.trim().clone_into(&mut server.base_url);
            break;
        }
        said.push(line);
    }
    if server.base_url.is_empty() {
        return Err(format!("{} serve: {}", program.display(), said.join(" ")).into());
    }
    // Someone must read what else it says, or it would wait.
    thread::Builder::new().name("stderr".to_owned()).spawn(move || lines.for_each(drop))?;
    Ok(server)
}

impl Server {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// # Errors
    /// When the URL is none.
    pub fn client(&self) -> io::Result<Client> {
        Client::new(&self.base_url)
    }

    /// How many applications it lists now; `None` while it does not answer.
    pub fn n_listed(&self) -> Option<usize> {
        let answer = self.client().ok()?.get("/api/v1/applications").ok()?;
        let list: Json = serde_json::from_slice(&answer.body).ok()?;
        (answer.status == 200).then(|| list.list().len())
    }

    /// Waits until there are so many applications, or else until their number has settled; gives the number.
    ///
    /// # Errors
    /// When the server ends or takes longer than the limit.
    pub fn wait(&mut self, expected: Option<usize>, limit: Duration) -> Outcome<usize> {
        let started = Instant::now();
        let mut last = (0, Instant::now());
        while started.elapsed() < limit {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the server at {} ended: {status}", self.base_url).into());
            }
            let n = self.n_listed().unwrap_or(0);
            if n != last.0 {
                last = (n, Instant::now());
            }
            let is_done = match expected {
                Some(expected) => n >= expected,
                None => n > 0 && last.1.elapsed() >= QUIET,
            };
            if is_done {
                return Ok(n);
            }
            sleep(POLL);
        }
        Err(format!("the server at {} lists only {} applications", self.base_url, last.0).into())
    }
}

impl Server {
    /// Lets it end by itself, so that it writes down what it wants to keep.
    ///
    /// # Errors
    /// When the signal cannot be sent.
    pub fn stop(mut self) -> Outcome<()> {
        Command::new("kill").arg(self.pid().to_string()).status()?;
        let started = Instant::now();
        while started.elapsed() < STOPPING && self.child.try_wait()?.is_none() {
            sleep(POLL);
        }
        Ok(())
    }
}

/// The Spark that `lab/setup.sh` installed below `lab-work`: the latest.
pub fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("lab-work/venv").ok()?;
    let libraries = versions.filter_map(|v| fs::read_dir(v.ok()?.path().join("lib")).ok());
    let mut homes: Vec<PathBuf> = libraries
        .flatten()
        .filter_map(|python| Some(python.ok()?.path().join("site-packages/pyspark")))
        .filter(|home| home.join("bin/spark-class").exists())
        .collect();
    homes.sort();
    homes.pop()
}
