//! Names of container images.

use super::ids::Text;

/// The image name with the tag `latest` added, unless there is a colon after the last slash. Nodes report images with a tag, and
/// kube-scheduler's function of the same name does the same before it compares names.
pub fn normalized_image_name(image: Text) -> Text {
    match image.rfind(':').map(|colon| image.rfind('/').is_none_or(|slash| slash < colon)) {
        Some(true) => image,
        _ => format!("{image}:latest").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::normalized_image_name;

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
            assert_eq!(&*normalized_image_name(image.into()), expected);
        }
    }
}
