//! Colours of words by their meaning. A colour never carries information that the word itself does not.

use anstyle::{AnsiColor, Style};

/// Paints words, if colours are on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Paint {
    pub(crate) has_color: bool,
}

/// The meaning of a word, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Worth a look.
    Careful,
    /// Not as it should be.
    Bad,
    /// Less important than the rest.
    Quiet,
    /// More important than the rest.
    Strong,
    /// A comment of the demo, as opposed to output of a command.
    Comment,
}

impl Paint {
    /// `text` in the colour of `tone`; unchanged if colours are off.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.has_color || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Good => AnsiColor::Green.on_default(),
            Self::Careful => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Quiet => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::Comment => AnsiColor::Cyan.on_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Paint, Tone};

    const TONES: [Tone; 6] = [Tone::Good, Tone::Careful, Tone::Bad, Tone::Quiet, Tone::Strong, Tone::Comment];

    #[test]
    fn without_colours_a_word_is_a_word() {
        for tone in TONES {
            assert_eq!(Paint { has_color: false }.paint(tone, "Held"), "Held");
        }
    }

    #[test]
    fn a_colour_ends_where_the_word_does() {
        for tone in TONES {
            let painted = Paint { has_color: true }.paint(tone, "Held");
            assert!(painted.starts_with("\u{1b}[") && painted.ends_with("Held\u{1b}[0m"), "{painted:?}");
        }
        assert_eq!(Paint { has_color: true }.paint(Tone::Good, ""), "");
    }
}
