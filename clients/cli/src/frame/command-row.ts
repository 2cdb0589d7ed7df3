import type { Session } from '../session/session.ts'
import type { Io } from './io.ts'

// A command is one row: its arguments are read, its help is written and completions are made of it, so all say one thing.

/** What a shell offers where there are no choices: what is on this machine. */
export type Offered = 'files' | 'folders' | 'flows' | 'profiles'

export type OptionRow =
  | { type: 'boolean'; summary: string }
  /** `value` names what is to be given. */
  | { type: 'string'; summary: string; value: string; choices?: readonly string[]; offered?: Offered }
export type OptionRows = Readonly<Record<string, OptionRow>>

export interface OperandRow {
  name: string
  summary: string
  optional?: true
  /** There may be any number of them. */
  several?: true
  /** An empty text says something too. */
  mayBeEmpty?: true
  choices?: readonly string[]
  offered?: Offered
}

/** Every command has these. */
export const commonOptions = {
  json: { type: 'boolean', summary: 'Answer in JSON, a line for each record' },
  yes: { type: 'boolean', summary: 'Do what ends something without asking' },
  profile: { type: 'string', value: 'name', summary: 'Who asks: one of those that signed in', offered: 'profiles' },
  help: { type: 'boolean', summary: 'Tell what the command does' },
} as const satisfies OptionRows

/** Commands about one project have these too. */
export const projectOptions = {
  organization: { type: 'string', value: 'id or name', summary: 'The organization, where there are several' },
  project: { type: 'string', value: 'id or name', summary: 'The project, where there are several' },
} as const satisfies OptionRows

/** Commands about flows that are kept as files. */
export const folderOptions = {
  dir: {
    type: 'string',
    value: 'folder',
    summary: 'Where the files of the flows are; by default this folder',
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
  /** Every row, for what is made of all of them. */
  commands: readonly CommandRow[]
}

export interface CommandRow {
  /** A noun and a verb, or one word. */
  name: string
  summary: string
  /** More than the summary, in whole sentences. */
  description?: string
  operands: readonly OperandRow[]
  options: OptionRows
  /** Lines for a shell, each of which is executed by scenarios/cli.scenario.ts. */
  examples: readonly string[]
  /** Answers with what the process ends with, where it is not 0. */
  handle(given: Given): Promise<number | void>
}

type Written<Rows extends OptionRows> = Omit<CommandRow, 'operands' | 'options' | 'handle'> & {
  operands?: readonly OperandRow[]
  options?: Rows
  handle(given: Given<Rows>): Promise<number | void>
}

/** A row whose handler knows the types of its options. */
export function command<const Rows extends OptionRows = OptionRows>(row: Written<Rows>): CommandRow {
  return { operands: [], ...row, options: { ...row.options, ...commonOptions } }
}
