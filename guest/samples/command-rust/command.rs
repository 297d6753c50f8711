//! A WASI preview-1 command in Rust. The first argument says what it does: `args`, `env NAME`, `upper` (standard input
//! in capitals), `copy FROM TO`, `sleep MS`, `exit CODE`, `panic`. Exit codes: 0, 1 where something was refused, 2 where
//! it is not told what to do.
use std::io::{self, Read};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    if let Err(problem) = act(&words) {
        eprintln!("{}", problem);
        process::exit(1);
    }
}

fn act(words: &[&str]) -> io::Result<()> {
    match words {
        ["args", ..] => println!("{}", words.join("\n")),
        ["env", name] => println!("{}", env::var(name).unwrap_or_else(|_| "not set".into())),
        ["upper"] => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text)?;
            print!("{}", text.to_uppercase());
        }
        ["copy", from, to] => fs::write(to, fs::read(from)?)?,
        ["sleep", milliseconds] => {
            let before = Instant::now();
            thread::sleep(Duration::from_millis(milliseconds.parse().unwrap_or(0)));
            println!("{}", before.elapsed().as_millis());
        }
        ["exit", code] => {
            println!("exiting with {}", code);
            process::exit(code.parse().unwrap_or(2));
        }
        ["panic"] => panic!("as it was told"),
        _ => {
            eprintln!("no such action: {}", words.join(" "));
            process::exit(2);
        }
    }
    Ok(())
}
