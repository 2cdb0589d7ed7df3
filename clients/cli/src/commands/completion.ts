import { completionAnswer } from '../completion/completion-answer.ts'
import { completionScripts, shells, type Shell } from '../completion/completion-scripts.ts'
import { command } from '../frame/command-row.ts'

export const completionCommands = [
  command({
    name: 'completion',
    summary: 'Write the script by which a shell completes commands and options',
    description:
      'bash: eval "$(gateway completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: gateway completion fish | source in ~/.config/fish/config.fish. With words it answers as the script asks: with what the last one may become.',
    operands: [
      { name: 'shell', summary: 'which one', choices: shells },
      {
        name: 'word',
        summary: 'a line up to where it is completed, without gateway',
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
