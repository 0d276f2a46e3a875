//! Clients that were not written for this service: an `OpenID` library, and the bytes that curl 7.88 and
//! Python requests 2.34 really sent (recorded, with placeholders for the signed values).

use openidconnect::core::CoreProviderMetadata;
use openidconnect::{AuthType, ClientId, ClientSecret};
use openidconnect::{IssuerUrl, OAuth2TokenResponse, Scope};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::rigs::service::{Service, letter, pdf};
use mailchute::base::secret::Secret;
use mailchute::sandbox::Options;

/// Carries the library's requests with the HTTP client of this package.
async fn carry(
    http: reqwest::Client,
    request: openidconnect::HttpRequest,
) -> Result<openidconnect::HttpResponse, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let answer = http
        .request(parts.method.as_str().parse().unwrap(), parts.uri.to_string())
        .headers(parts.headers)
        .body(body)
        .send()
        .await?;
    let mut response = openidconnect::http::Response::builder().status(answer.status().as_u16());
    for (name, value) in answer.headers() {
        response = response.header(name.as_str(), value.as_bytes());
    }
    Ok(response.body(answer.bytes().await?.to_vec()).unwrap())
}

async fn discover_log_in_and_revoke(id: &str, secret: &str, auth_type: AuthType) {
    let client = Some((id.to_owned(), Secret::new(secret)));
    let service = Service::with(Options { client, ..Options::default() }).await;
    let http = |request| carry(service.http.clone(), request);
    let issuer = IssuerUrl::new(service.welcome.places.auth_url.clone()).unwrap();
    let metadata = CoreProviderMetadata::discover_async(issuer, &http).await.unwrap();
    let revocation = metadata.token_endpoint().unwrap().url().to_string() + "/revocation";
    let client = openidconnect::core::CoreClient::from_provider_metadata(
        metadata,
        ClientId::new(id.to_owned()),
        Some(ClientSecret::new(secret.to_owned())),
    )
    .set_auth_type(auth_type)
    .set_revocation_url(openidconnect::RevocationUrl::new(revocation).unwrap());
    let token = client
        .exchange_client_credentials()
        .unwrap()
        .add_scope(Scope::new("mails:read".into()))
        .add_scope(Scope::new("not:allowed".into()))
        .request_async(&http)
        .await
        .unwrap();
    assert_eq!(token.expires_in(), Some(std::time::Duration::from_hours(1)));
    let scopes: Vec<&str> = token.scopes().unwrap().iter().map(|scope| scope.as_str()).collect();
    assert_eq!(scopes, ["mails:read"]);
    let bearer = token.access_token().secret().clone();
    let read = || service.plain(reqwest::Method::GET, "/v1/mails/m1").bearer_auth(&bearer).send();
    assert_eq!(read().await.unwrap().status(), 404);
    let revoked = client.revoke_token(token.access_token().clone().into());
    // The library insists on https here; what it would send goes over plain loopback instead.
    match revoked {
        Ok(request) => request.request_async(&http).await.unwrap(),
        Err(openidconnect::ConfigurationError::InsecureUrl("revocation")) => {
            let url = format!("{}/token/revocation", service.welcome.places.auth_url);
            let form = [("token", bearer.as_str()), ("token_type_hint", "access_token")];
            let answer =
                service.http.post(url).basic_auth(id, Some(secret)).form(&form).send().await.unwrap();
            assert_eq!(answer.status(), 200);
        }
        Err(other) => panic!("{other}"),
    }
    assert_eq!(read().await.unwrap().status(), 401);
}

#[tokio::test]
async fn an_openid_library_discovers_logs_in_and_revokes() {
    discover_log_in_and_revoke("client", "secret", AuthType::BasicAuth).await;
}

#[tokio::test]
async fn an_openid_library_may_form_encode_awkward_credentials() {
    discover_log_in_and_revoke("team one+two", "p:a+s%s w/ö=&?", AuthType::BasicAuth).await;
}

/// Fills a recorded request with a target's fields and a PDF, and sends it as it stood.
async fn replay(recorded: &[u8]) -> (Vec<u8>, Service, String) {
    let service = Service::start().await;
    let mail = service.create(&letter()).await;
    let split = recorded.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    let (head, body) = recorded.split_at(split);
    let mut body = String::from_utf8(body.to_vec()).unwrap();
    for (name, value) in &mail.contents[0].upload.fields {
        body = body.replace(&format!("{{{{{name}}}}}"), value);
    }
    let body = body.replace("{{PDF}}", std::str::from_utf8(&pdf(1)).unwrap());
    let head: Vec<String> = std::str::from_utf8(head)
        .unwrap()
        .lines()
        .map(|line| match line.split_once(": ") {
            Some(("Content-Length", _)) => format!("Content-Length: {}", body.len()),
            Some(_) | None => line.to_owned(),
        })
        .collect();
    let address = service.welcome.places.base_url.trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{}\r\n{body}", head.join("\r\n") + "\r\n").as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    (answer, service, mail.id)
}

async fn is_taken(recorded: &[u8]) {
    let (answer, service, mail) = replay(recorded).await;
    assert!(answer.starts_with(b"HTTP/1.1 204 "), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(service.confirm(&mail).await.status(), 204);
}

#[tokio::test]
async fn what_curl_sends_is_taken() {
    is_taken(include_bytes!("recorded/curl.http")).await;
}

#[tokio::test]
async fn what_python_requests_sends_is_taken() {
    is_taken(include_bytes!("recorded/requests.http")).await;
}
