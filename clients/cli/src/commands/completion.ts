import { completionAnswer } from '../completion/completion-answer.ts'
import { completionScripts, shells, type Shell } from '../completion/completion-scripts.ts'
import { command } from '../frame/command-row.ts'

export const completionCommands = [
  command({
    name: 'completion',
    summary: 'Print the completion script of a shell',
    description:
      'bash: eval "$(gateway completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: gateway completion fish | source in ~/.config/fish/config.fish. With words after --, it prints the completions of the last word, as the script asks for.',
    operands: [
      { name: 'shell', summary: 'which one', choices: shells },
      {
        name: 'word',
        summary: 'the line up to the cursor, without gateway',
        optional: true,
        several: true,
        mayBeEmpty: true,
      },
    ],
    examples: [...shells.map((shell) => `gateway completion ${shell}`), 'gateway completion fish -- keys r'],
    async handle({ operands, io, commands }) {
      const [shell, ...line] = operands as [Shell, ...string[]]
      io.write(line.length === 0 ? completionScripts[shell] : await completionAnswer({ commands, io }, shell, line))
    },
  }),
]
