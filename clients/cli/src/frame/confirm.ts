import { CommandFailure } from './command-failure.ts'
import type { Given } from './command-row.ts'

/**
 * Asks before something ends, unless `--yes` says so already.
 * @throws CommandFailure where the answer is no, or where no one is there to answer
 */
export async function confirm({ io, options }: Pick<Given, 'io' | 'options'>, what: string): Promise<void> {
  if (options.yes === true) return
  if (!io.isTerminal.input)
    throw new CommandFailure(`${what} No one is there to be asked.`, 'Say that it is meant: add --yes', 'usage')
  const answer = await io.ask(`${what} Continue? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was done.', 'Answer y, or add --yes')
}
