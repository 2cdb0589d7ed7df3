import { command } from '../frame/command-row.ts'
import { completionScripts, shells, type Shell } from '../frame/completion-scripts.ts'

export const completionCommands = [
  command({
    name: 'completion',
    summary: 'Write the script by which a shell completes commands and options',
    description: 'bash: source <(gateway completion bash). zsh: the same. fish: gateway completion fish | source.',
    operands: [{ name: 'shell', summary: 'which one', choices: shells }],
    examples: shells.map((shell) => `gateway completion ${shell}`),
    async handle({ operands, io, commands }) {
      io.write(completionScripts[operands[0] as Shell](commands))
    },
  }),
]
