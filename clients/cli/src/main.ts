import { commands } from './commands/command-table.ts'
import { openIo } from './frame/open-io.ts'
import { runCommand } from './frame/run-command.ts'
import { fillInForNode20 } from './node-20.ts'

fillInForNode20()
process.exitCode = await runCommand(commands, process.argv.slice(2), openIo(process.env))
