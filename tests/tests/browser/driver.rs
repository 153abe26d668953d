//! A headless Chromium with an own chromedriver: pages, keys, console, and the requests that it made.

use anyhow::{Context as _, Result, ensure};
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use http::Method;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use url::{ParseError, Url};

/// How long a page may take until it is as a test expects. Nothing waits this long if all is well.
const PATIENCE: Duration = Duration::from_secs(30);

/// A browser with one page.
pub(crate) struct Browser {
    driver: Child,
    client: Client,
    /// Stays open: chromedriver ends if it cannot write.
    _output: BufReader<ChildStdout>,
}

/// A command of chromedriver that is not in the standard.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!("session/{}/{}", session_id.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _request_url: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    /// Starts a browser; `None` if there is no chromedriver.
    pub(crate) async fn start() -> Result<Option<Self>> {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = match command.spawn() {
            Ok(driver) => driver,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context("chromedriver"),
        };
        match Self::connect(&mut driver).await {
            Ok((client, _output)) => Ok(Some(Self { driver, client, _output })),
            Err(error) => {
                end(&mut driver);
                Err(error)
            }
        }
    }

    async fn connect(driver: &mut Child) -> Result<(Client, BufReader<ChildStdout>)> {
        let output = driver.stdout.take().context("chromedriver has no output")?;
        let mut output = BufReader::new(output);
        let port = output.by_ref().lines().find_map(|line| {
            let line = line.ok()?;
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse::<u16>().ok()
        });
        let options = json!({ "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--hide-scrollbars", "--window-size=1400,1000", "--force-color-profile=srgb"] });
        let capabilities = json!({ "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" } });
        let Value::Object(capabilities) = capabilities else { unreachable!("it is an object") };
        let address = format!("http://127.0.0.1:{}", port.context("chromedriver did not say its port")?);
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&address)
            .await?;
        Ok((client, output))
    }

    /// Ends the page, the browser and its driver.
    pub(crate) async fn close(mut self) {
        let _ = self.client.clone().close().await;
        end(&mut self.driver);
    }

    /// Loads a file, and waits until everything in it is drawn.
    pub(crate) async fn open(&self, file: &Path) -> Result<()> {
        self.client.goto(&format!("file://{}", file.display())).await?;
        self.until("document.querySelectorAll('tbody[data-complete]').length === 2").await
    }

    /// Waits until an expression is true.
    pub(crate) async fn until(&self, expression: &str) -> Result<()> {
        let is_true = async {
            while self.value(expression).await? != json!(true) {}
            Ok(())
        };
        tokio::time::timeout(PATIENCE, is_true).await.with_context(|| format!("never true: {expression}"))?
    }

    /// The value of an expression in the page.
    pub(crate) async fn value(&self, expression: &str) -> Result<Value> {
        self.client
            .execute(&format!("return {expression}"), Vec::new())
            .await
            .with_context(|| expression.to_owned())
    }

    /// Runs a script that calls its last argument with the result.
    pub(crate) async fn result(&self, script: &str) -> Result<Value> {
        Ok(self.client.execute_async(script, Vec::new()).await?)
    }

    /// Presses keys, one after the other.
    pub(crate) async fn press(&self, keys: &str) -> Result<()> {
        let actions = keys.chars().fold(KeyActions::new("keyboard".into()), |actions, value| {
            actions.then(KeyAction::Down { value }).then(KeyAction::Up { value })
        });
        Ok(self.client.perform_actions(actions).await?)
    }

    /// A command of the DevTools protocol.
    pub(crate) async fn devtools(&self, command: &str, params: &Value) -> Result<Value> {
        let body = json!({ "cmd": command, "params": params });
        Ok(self.client.issue_cmd(Extension { path: "goog/cdp/execute", body }).await?)
    }

    /// Dark or light.
    pub(crate) async fn set_scheme(&self, scheme: &str) -> Result<()> {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": features })).await.map(drop)
    }

    /// The size of the page in pixels.
    pub(crate) async fn set_size(&self, width: u32, height: u32) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &size).await.map(drop)
    }

    pub(crate) async fn screenshot(&self, file: &Path) -> Result<()> {
        std::fs::write(file, self.client.screenshot().await?).context("write a screenshot")
    }

    async fn log(&self, kind: &str) -> Result<Vec<Value>> {
        let log = self.client.issue_cmd(Extension { path: "se/log", body: json!({ "type": kind }) }).await?;
        Ok(log.as_array().cloned().unwrap_or_default())
    }

    /// Fails if something was written to the console, or something else than `file` was requested.
    pub(crate) async fn expect_silence(&self, file: &Path) -> Result<()> {
        let console = self.log("browser").await?;
        ensure!(console.is_empty(), "on the console: {console:#?}");
        let own = format!("file://{}", file.display());
        let mut requests = 0;
        for entry in self.log("performance").await? {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap_or_default())?;
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let url =
                    message["message"]["params"]["request"]["url"].as_str().unwrap_or_default().to_owned();
                ensure!(url == own, "the page asks for {url}");
                requests += 1;
            }
        }
        ensure!(requests > 0, "not even the page itself was requested, so the log of requests is broken");
        Ok(())
    }
}

fn end(driver: &mut Child) {
    let _ = driver.kill();
    let _ = driver.wait();
}
