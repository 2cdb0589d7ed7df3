import path from 'node:path'
import type { ApiClient } from '@gateway/api-client/open-api-client'
import type { RevisionRecord, SandboxRecord } from '@gateway/api/console/sandboxes'
import type { Given } from '../frame/command-row.ts'
import { CommandFailure } from '../frame/command-failure.ts'
import { collect } from '../commands/argument-values.ts'
import { openFlowFolder, type FlowFolder, type LockedFlow, fileOf, readFlowName } from './flow-folder.ts'

export interface Flows extends FlowFolder {
  api: ApiClient
  tenant: string
  project: string
  /** All sandbox products of the project. */
  list(): Promise<SandboxRecord[]>
  sandbox(id: string): Promise<SandboxRecord>
  revision(sandbox: string, number: number): Promise<RevisionRecord>
}

type Asked = Pick<Given, 'io' | 'session'> & { options: { dir?: string } }

/** The folder alone: requires no sign-in. */
export function folderOf({ io, options }: Pick<Asked, 'io' | 'options'>): Promise<FlowFolder> {
  return openFlowFolder(path.resolve(io.folder, options.dir ?? '.'))
}

/** The folder, and the project of its flows. */
export async function openFlows(asked: Asked): Promise<Flows> {
  const folder = await folderOf(asked)
  const { organization, project: ofLock } = folder.lock
  const known = organization !== null && ofLock !== null ? { organization, project: ofLock } : null
  const { tenant, project } = await asked.session.project(known)
  if (known !== null && project !== known.project)
    throw new CommandFailure(
      `The flows in ${folder.folder} belong to ${known.project}, not to ${project}.`,
      'Omit --project, or use another folder for the flows of another project: --dir',
      'usage',
    )
  folder.lock.organization = tenant
  folder.lock.project = project
  const api = await asked.session.user()
  return {
    ...folder,
    api,
    tenant,
    project,
    list: () =>
      collect(api.pages('/api/v2/tenants/{tenant}/projects/{project}/sandboxes', { params: { tenant, project } })),
    sandbox: (sandbox) =>
      api.ask('GET', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}', { params: { tenant, sandbox } }),
    revision: (sandbox, number) =>
      api.ask('GET', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions/{number}', {
        params: { tenant, sandbox, number: String(number) },
      }),
  }
}

/** Finds a flow by id, by its name here, or by its name in the project. */
export async function sandboxNamed(flows: Flows, asked: string): Promise<string> {
  if (asked.startsWith('sbx-')) return asked
  const locked = flows.lock.flows[asked.replace(/\.flow\.json$/, '')]
  if (locked) return locked.sandbox
  const found = (await flows.list()).filter(({ name }) => name === asked)
  if (found.length === 1) return found[0]!.id
  throw new CommandFailure(
    found.length === 0 ? `There is no flow ${asked}.` : `Several flows are called ${asked}.`,
    'Use the id that gateway flows list shows',
  )
}

/** Finds the flow of a file that was pulled or pushed. */
export function lockedFlow({ lock }: FlowFolder, asked: string): LockedFlow & { name: string } {
  const name = readFlowName(asked)
  const locked = lock.flows[name]
  if (locked) return { name, ...locked }
  throw notPushed(name)
}

/** The revision last seen of a flow. @throws CommandFailure if its only push failed after the product was created */
export function pushedRevision({ name, revision }: { name: string; revision: number }): number {
  if (revision > 0) return revision
  throw notPushed(name)
}

function notPushed(name: string): CommandFailure {
  return new CommandFailure(
    `${fileOf(name)} is not on the gateway yet.`,
    `Push it: gateway flows push ${name}. Or pull the flows of the project: gateway flows pull`,
  )
}
