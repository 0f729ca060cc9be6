//! Reads orders from stdin, one JSON object a line, and writes what asx-rs makes of the answer to stdout in the same way.
//! Usage: interop-asx CERTS, in the folder where the CA's certificate for it is.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use asx::as4::{As4, Message};
use asx::{BoxFuture, Certificate, HttpClient, KeyPair, LocalParty, Partner, Payload, Profile};
use bytes::Bytes;
use serde_json::{Value, json};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

const PARTY_TYPE: &str = "urn:fdc:peppol.eu:2017:identifiers:ap";

/// Posts to the URL of the order in place of the https endpoint that the library insists on; lists of revoked certificates come from the folder.
#[derive(Debug)]
struct Wire {
    host: String,
    path: String,
    certs: PathBuf,
}

impl HttpClient for Wire {
    fn send(&self, request: http::Request<Bytes>) -> BoxFuture<'_, Result<http::Response<Bytes>, AnyError>> {
        Box::pin(async move {
            if request.method() == http::Method::GET {
                let name = request.uri().path().rsplit('/').next().unwrap_or_default();
                return Ok(http::Response::new(std::fs::read(self.certs.join(name))?.into()));
            }
            self.post(&request)
        })
    }
}

impl Wire {
    fn post(&self, request: &http::Request<Bytes>) -> Result<http::Response<Bytes>, AnyError> {
        let mut head = format!("POST {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.path, self.host);
        for (name, value) in request.headers() {
            head += &format!("{name}: {}\r\n", value.to_str()?);
        }
        head += &format!("Content-Length: {}\r\n\r\n", request.body().len());
        let mut stream = TcpStream::connect(&self.host)?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(request.body())?;
        let mut octets = Vec::new();
        stream.read_to_end(&mut octets)?;
        // Quittance announces the length of every answer, and the connection ends behind it.
        let end = octets.windows(4).position(|four| four == b"\r\n\r\n").ok_or("the answer has no head")?;
        let head = std::str::from_utf8(&octets[..end])?;
        let status: u16 = head.split(' ').nth(1).ok_or("the answer has no status")?.parse()?;
        let mut response = http::Response::builder().status(status);
        for (name, value) in head.lines().skip(1).filter_map(|line| line.split_once(':')) {
            response = response.header(name, value.trim());
        }
        Ok(response.body(Bytes::copy_from_slice(&octets[end + 4..]))?)
    }
}

fn text<'a>(order: &'a Value, field: &str) -> &'a str {
    order[field].as_str().unwrap_or_default()
}

async fn send(certs: &Path, order: &Value) -> Result<Value, Box<dyn std::error::Error>> {
    let certificate = |name: &str| -> Result<Certificate, Box<dyn std::error::Error>> {
        Ok(Certificate::from_pem(&std::fs::read(certs.join(format!("{name}.crt")))?)?)
    };
    let keys = || -> Result<KeyPair, Box<dyn std::error::Error>> {
        Ok(KeyPair::from_pem(&std::fs::read(certs.join("sender.crt"))?, &std::fs::read(certs.join("sender.key"))?)?)
    };
    let mut local = LocalParty::new("POP000001").signer(keys()?).decrypter(keys()?);
    let mut partner = Partner::new("POP000002")
        .endpoint("https://receiver.example/as4")
        .signing_cert(certificate("receiver")?)
        .encryption_cert(certificate("receiver")?);
    let profile = match text(order, "profile") {
        "peppol" => Profile::peppol(),
        _ => {
            local = local.party_type(PARTY_TYPE);
            partner = partner.party_type(PARTY_TYPE);
            Profile::edelivery_1_15()
        }
    };
    let url: http::Uri = text(order, "url").parse()?;
    let wire = Wire {
        host: url.authority().ok_or("the URL has no host")?.to_string(),
        path: url.path().to_owned(),
        certs: certs.to_owned(),
    };
    let client = As4::builder(profile)
        .local(local)
        .trust_anchor(Certificate::from_pem(&std::fs::read("ap-ca.crt")?)?)
        .trust_anchor(certificate("root")?)
        .http_client(wire)
        .partner(partner.clone())
        .build()?;
    let mut message = match text(order, "ping") {
        "yes" => Message::ping(&partner),
        _ => Message::to(&partner)
            .service(text(order, "process"))
            .action(format!("busdox-docid-qns::{}", text(order, "documentType"))),
    };
    // The library sends nothing without a payload, not even a ping.
    message = message.payload(Payload::new(std::fs::read(text(order, "sbd"))?, "application/xml"));
    message = message.message_id(text(order, "messageId"));
    if let Ok(seconds) = text(order, "timestamp").parse() {
        message = message.timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    }
    Ok(match client.send(message).await {
        Ok(_) => json!({ "accepted": true, "verdict": "verified receipt", "checks": {} }),
        Err(error) => {
            let mut judgement =
                json!({ "accepted": false, "verdict": format!("{:?}: {error}", error.kind()), "checks": {} });
            if let Some(code) = error.ebms_code() {
                judgement["error"] = json!({ "code": code });
            }
            judgement
        }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let certs = PathBuf::from(std::env::args().nth(1).ok_or("interop-asx CERTS")?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for line in std::io::stdin().lock().lines() {
        let order: Value = serde_json::from_str(&line?)?;
        let judgement = runtime
            .block_on(send(&certs, &order))
            .unwrap_or_else(|error| json!({ "accepted": false, "verdict": format!("driver: {error}"), "checks": {} }));
        println!("{judgement}");
    }
    Ok(())
}
