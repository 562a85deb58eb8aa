//! `afterspark completions`: scripts that teach a shell the verbs and options.

use clap::{Args, CommandFactory};

use super::{Arguments, Failure, Outcome, answer};

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "Examples:
  afterspark completions bash > /etc/bash_completion.d/afterspark
  afterspark completions zsh > ~/.zfunc/_afterspark")]
pub(super) struct Completions {
    shell: clap_complete::Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "afterspark", &mut script);
        answer(|out| out.write_all(&script))?;
        Ok(Outcome::Done)
    }
}
