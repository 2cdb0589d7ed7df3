import type { Session } from '../session/session.ts'
import type { Io } from './io.ts'

// A command is one row, from which its arguments are parsed and its help and completions are generated, so all agree.

/** What a shell offers for values without choices: things on this machine. */
export type Offered = 'files' | 'folders' | 'flows' | 'profiles'

export type OptionRow =
  | { type: 'boolean'; summary: string }
  /** `value` names the value. */
  | { type: 'string'; summary: string; value: string; choices?: readonly string[]; offered?: Offered }
export type OptionRows = Readonly<Record<string, OptionRow>>

export interface OperandRow {
  name: string
  summary: string
  optional?: true
  /** Accepts any number of them. */
  several?: true
  /** Accepts an empty text. */
  mayBeEmpty?: true
  choices?: readonly string[]
  offered?: Offered
}

/** Options of every command. */
export const commonOptions = {
  json: { type: 'boolean', summary: 'Print JSON, one record per line' },
  yes: { type: 'boolean', summary: 'Skip confirmation prompts' },
  profile: {
    type: 'string',
    value: 'name',
    summary: 'Profile to use, as created by gateway login',
    offered: 'profiles',
  },
  help: { type: 'boolean', summary: 'Show help for the command' },
} as const satisfies OptionRows

/** Options of commands for one project. */
export const projectOptions = {
  organization: { type: 'string', value: 'id or name', summary: 'The organization, if you have several' },
  project: { type: 'string', value: 'id or name', summary: 'The project, if you have several' },
} as const satisfies OptionRows

/** Options of commands for flow files. */
export const folderOptions = {
  dir: {
    type: 'string',
    value: 'folder',
    summary: 'Folder of the flow files; by default the current one',
    offered: 'folders',
  },
} as const satisfies OptionRows

export type Options<Rows extends OptionRows> = {
  readonly [Name in keyof Rows]?: Rows[Name]['type'] extends 'boolean' ? boolean : string
}

export interface Given<Rows extends OptionRows = OptionRows> {
  operands: readonly string[]
  options: Options<Rows & typeof commonOptions>
  io: Io
  session: Session
  /** Every row, for commands that work on all of them. */
  commands: readonly CommandRow[]
}

export interface CommandRow {
  /** A noun and a verb, or one word. */
  name: string
  summary: string
  /** In addition to the summary, in whole sentences. */
  description?: string
  operands: readonly OperandRow[]
  options: OptionRows
  /** Shell lines, each of which is run by scenarios/cli.scenario.ts. */
  examples: readonly string[]
  /** Returns the exit code if it is not 0. */
  handle(given: Given): Promise<number | void>
}

type Written<Rows extends OptionRows> = Omit<CommandRow, 'operands' | 'options' | 'handle'> & {
  operands?: readonly OperandRow[]
  options?: Rows
  handle(given: Given<Rows>): Promise<number | void>
}

/** A row whose handler has the types of its options. */
export function command<const Rows extends OptionRows = OptionRows>(row: Written<Rows>): CommandRow {
  return { operands: [], ...row, options: { ...row.options, ...commonOptions } }
}
