//! Names of container images.

use super::ids::Text;

/// The image with a tag: `latest`, unless there is a colon after the last slash. So nodes know it, and so upstream
/// compares them.
pub fn tagged(image: Text) -> Text {
    match image.rfind(':').map(|colon| image.rfind('/').is_none_or(|slash| slash < colon)) {
        Some(true) => image,
        _ => format!("{image}:latest").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::tagged;

    #[test]
    fn what_has_no_tag_is_the_latest() {
        let table = [
            ("nginx", "nginx:latest"),
            ("nginx:1", "nginx:1"),
            ("r:5000/nginx", "r:5000/nginx:latest"),
            ("r:5000/nginx:1", "r:5000/nginx:1"),
            ("nginx@sha256:aa", "nginx@sha256:aa"),
            ("", ":latest"),
        ];
        for (image, expected) in table {
            assert_eq!(&*tagged(image.into()), expected);
        }
    }
}
