//! Judges whether a new password is easy to guess: it is common, or close to what is known about the person.

use zxcvbn::zxcvbn;

use domain::fold::fold;

/// A password that needs fewer guesses is refused: the million most likely ones are tried first, wherever accounts are
/// attacked. With the back-off, more than that takes years for one account.
const FEWEST_GUESSES: u64 = 1_000_000;
/// The characters that are judged. A password that is good so far stays good. The estimate tries each meaning of a digit
/// or sign that may stand for a letter, in each part of the text: with 24 characters it takes at most as long as a hash of
/// the password, with 100 some seconds.
const JUDGED_CHARS: usize = 24;
/// The words about a person that are compared, and the characters of each: they bound the cost, too.
const MOST_WORDS: usize = 64;
const WORD_CHARS: usize = 40;
/// A shorter word is in too many good passwords.
const FEWEST_CHARS: usize = 3;
/// Common passwords and parts of them in Portuguese and Spanish, which the estimate's own lists do not have.
const COMMON: &str = "
    senha@123 mudar@123 acesso@123 brasil@123 teste@123 admin@123 clave@123
    senha minhasenha mudar acesso entrar teste brasil familia felicidade amor meuamor tevejo teamo
    deusefiel jesuscristo flamengo corinthians palmeiras saopaulo princesa empresa bemvindo segredo
    contraseña contrasena miclave clave acceso prueba bienvenido hola tequiero miamor estrella secreto
    españa espana mexico argentina colombia barcelona realmadrid whatsapp pombo";

/// What is known about a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct About(Vec<String>);

impl About {
    /// The words of the e-mail address, the name and the names of the companies; any two of a name together; and these
    /// texts as a whole.
    pub(super) fn new(email: &str, name: &str, companies: impl IntoIterator<Item = String>) -> Self {
        let companies: Vec<_> = companies.into_iter().collect();
        let (account, host) = email.split_once('@').unwrap_or_default();
        let mut known = Self(Vec::new());
        known.add(email);
        for text in [account, host, name].into_iter().chain(companies.iter().map(String::as_str)) {
            known.add(text);
            let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric()).take(MOST_WORDS).collect();
            for (place, word) in words.iter().enumerate() {
                known.add(word);
                for later in words.iter().skip(place + 1) {
                    known.add(&format!("{word}{later}"));
                }
            }
            known.add(&words.concat());
        }
        known
    }

    /// Adds a text, with its accents and without, if there is room.
    fn add(&mut self, text: &str) {
        let text: String = text.chars().take(WORD_CHARS).collect();
        for word in [text.to_lowercase(), fold(&text)] {
            let is_long = word.chars().count() >= FEWEST_CHARS;
            if is_long && self.0.len() < MOST_WORDS && !self.0.contains(&word) {
                self.0.push(word);
            }
        }
    }
}

/// Whether an attacker who knows this about the person guesses the password early.
pub(super) fn is_common(password: &str, about: &About) -> bool {
    let judged: String = password.chars().take(JUDGED_CHARS).collect();
    let own = about.0.iter().map(String::as_str);
    let known: Vec<_> = own.chain(COMMON.split_whitespace()).collect();
    zxcvbn(&judged, &known).guesses() < FEWEST_GUESSES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_common_for_ana(password: &str) -> bool {
        let companies = ["Padaria São João".to_owned()];
        is_common(password, &About::new("ana.souza@padaria.example", "Ana Cristina Souza", companies))
    }

    #[test]
    fn common_passwords_and_those_about_the_person_are_easy_to_guess() {
        for password in [
            "password",
            "Passw0rd",
            "12345678",
            "123456789",
            "qwertyui",
            "iloveyou1",
            "abcd1234",
            "aaaaaaaa",
            "senha123",
            "Senha@123",
            "mudar123",
            "contraseña1",
            "flamengo10",
            "pombo123",
            "11111111",
            "20111985",
            "anasouza",
            "ana.souza1",
            "cristina1",
            "Padaria2024",
            "padaria.example",
            "SãoJoão1",
            "PadariaSãoJoão",
            "anasouza1",
            "AnaCristinaSouza!",
            "saojoao1",
        ] {
            assert!(is_common_for_ana(password), "{password}");
        }
    }

    #[test]
    fn sentences_and_random_passwords_are_not() {
        for password in [
            "correct horse battery",
            "another password",
            "a new password",
            "o pão sai às sete",
            "mi perro come tarde",
            "xK9#mP2$vL",
            "tr5-8Qz!w",
            "密码很长很难猜到的吧",
            "padaria com cheiro de lenha",
        ] {
            assert!(!is_common_for_ana(password), "{password}");
        }
    }

    #[test]
    fn the_cost_is_bounded_for_the_longest_input() {
        let long = "aB3$".repeat(64);
        let about = About::new(&"ab.".repeat(80), &"na ".repeat(200), vec!["co ".repeat(500); 10]);
        assert!(
            about.0.len() <= MOST_WORDS && about.0.iter().all(|word| word.chars().count() <= 2 * WORD_CHARS)
        );
        // The characters after the judged ones change nothing.
        let judged: String = long.chars().take(JUDGED_CHARS).collect();
        assert_eq!(is_common(&long, &about), is_common(&judged, &about));
        assert!(is_common(&"a".repeat(256), &about), "repetition is easy to guess however long it is");
    }
}
