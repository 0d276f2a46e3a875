//! An address in lines, as an envelope has them.

/// Characters that do not begin a line.
const NEVER_FIRST: [char; 9] = ['ー', '々', '、', '。', '・', '）', '」', ')', ','];

/// Lines that fit this number of full-width characters.
pub fn in_lines(text: &str, most: f64) -> Vec<String> {
    let (mut lines, mut width) = (vec![String::new()], 0.0);
    for c in text.chars() {
        let wide = if c < '\u{1100}' { 0.5 } else { 1.0 };
        if width + wide > most && !NEVER_FIRST.contains(&c) {
            lines.push(String::new());
            width = 0.0;
        }
        width += wide;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::in_lines;

    #[test]
    fn half_width_characters_count_as_half() {
        assert_eq!(in_lines("北一条西1-1", 4.0), ["北一条西", "1-1"]);
        assert_eq!(in_lines("abcdefghi", 4.0), ["abcdefgh", "i"]);
        assert_eq!(in_lines("", 4.0), [""]);
    }

    #[test]
    fn a_long_vowel_stays_with_its_syllable() {
        assert_eq!(in_lines("中央タワー12階", 4.0), ["中央タワー", "12階"]);
    }
}
