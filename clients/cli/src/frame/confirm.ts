import { CommandFailure } from './command-failure.ts'
import type { Given } from './command-row.ts'

/**
 * Asks for confirmation before a destructive change, unless `--yes` is given.
 * @throws CommandFailure if the user declines, or if there is no terminal
 */
export async function confirm({ io, options }: Pick<Given, 'io' | 'options'>, what: string): Promise<void> {
  if (options.yes === true) return
  if (!io.isTerminal.input)
    throw new CommandFailure(`${what} Confirming needs a terminal.`, 'Confirm with --yes', 'usage')
  const answer = await io.ask(`${what} Continue? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new CommandFailure('Cancelled. Nothing was changed.', 'Answer y, or add --yes')
}
