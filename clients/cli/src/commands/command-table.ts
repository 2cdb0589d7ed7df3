import type { CommandRow } from '../frame/command-row.ts'
import { bookCommands } from './books.ts'
import { completionCommands } from './completion.ts'
import { executionCommands } from './executions.ts'
import { flowFileCommands } from './flow-files.ts'
import { keyCommands } from './keys.ts'
import { mcpCommands } from './mcp.ts'
import { runFlowCommands } from './run-flows.ts'
import { signInCommands } from './sign-in.ts'

/** Every command, in the order of the help. */
export const commands: readonly CommandRow[] = [
  ...signInCommands,
  ...keyCommands,
  ...flowFileCommands,
  ...runFlowCommands,
  ...executionCommands,
  ...bookCommands,
  ...mcpCommands,
  ...completionCommands,
]
