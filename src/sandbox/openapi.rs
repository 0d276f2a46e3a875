//! The service and its controls as `OpenAPI` documents, with the addresses of this sandbox.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::service::Service;

const SERVICE: &str = include_str!("openapi/service.json");
const CONTROLS: &str = include_str!("openapi/controls.json");

pub(super) async fn service(State(service): State<Arc<Service>>) -> Response {
    document(SERVICE, &service.places.base_url)
}

pub(super) async fn controls(State(service): State<Arc<Service>>) -> Response {
    document(CONTROLS, &service.places.control_url)
}

fn document(text: &str, url: &str) -> Response {
    let Ok(mut document) = serde_json::from_str::<Value>(text) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    document["servers"] = json!([{"url": url}]);
    ([(header::CONTENT_TYPE, "application/json")], document.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::api::wire::{ShippingMethod, ShippingOption};
    use crate::sandbox::faults::{Endpoint, Kind};
    use crate::sandbox::world::{Code, Standing};

    fn at<'a>(document: &'a Value, path: &str) -> Vec<&'a str> {
        let words = document.pointer(path).and_then(Value::as_array).unwrap();
        words.iter().map(|word| word.as_str().unwrap()).collect()
    }

    fn words<T: serde::Serialize>(all: &[T]) -> Vec<String> {
        all.iter().map(|one| serde_json::to_value(one).unwrap().as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_documents_name_what_the_code_names() {
        let service: Value = serde_json::from_str(SERVICE).unwrap();
        let controls: Value = serde_json::from_str(CONTROLS).unwrap();
        let order = "/components/schemas/CreateMail/properties";
        assert_eq!(at(&service, &format!("{order}/shipping_method/enum")), words(&ShippingMethod::ALL));
        assert_eq!(
            at(&service, &format!("{order}/shipping_options/items/enum")),
            words(&ShippingOption::ALL)
        );
        let fault = "/components/schemas/Fault/properties";
        assert_eq!(at(&controls, &format!("{fault}/endpoint/enum")), words(&Endpoint::ALL));
        assert_eq!(at(&controls, &format!("{fault}/fault/enum")), words(&Kind::ALL));
        assert_eq!(at(&controls, "/components/schemas/Letter/properties/state/enum"), words(&Standing::ALL));
        // Each code has its status beside it. The two that belong to no operation are not there.
        let operations = service["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|path| path.as_object().unwrap().values());
        let answers: Vec<(String, String)> = operations
            .flat_map(|operation| operation["responses"].as_object().unwrap())
            .flat_map(|(status, answer)| {
                let codes = answer["description"].as_str().unwrap().split('`').skip(1).step_by(2);
                codes.map(|code| (status.clone(), code.to_owned())).collect::<Vec<_>>()
            })
            .collect();
        for code in Code::ALL {
            let is_there = answers.contains(&(code.status().to_string(), code.as_str().to_owned()));
            assert_eq!(
                is_there,
                !matches!(code, Code::NotFound | Code::MethodNotAllowed),
                "{}",
                code.as_str()
            );
        }
        for (_, code) in answers {
            assert!(Code::ALL.iter().any(|known| known.as_str() == code), "{code}");
        }
    }
}
