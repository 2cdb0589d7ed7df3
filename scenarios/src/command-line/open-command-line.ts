import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { exampleIds } from '@gateway/api/example-ids'
import { callerAt } from '../caller.ts'
import { flows } from '../mcp/flows.ts'
import type { Stack } from '../stack.ts'

export type CommandLine = Awaited<ReturnType<typeof openCommandLine>>

interface ShellOptions {
  folder?: string
  /** If false, the environment has no URL, token or key. */
  isSignedIn?: boolean
  env?: Record<string, string>
}

export interface Ended {
  code: number
  /** stdout */
  output: string
  /** stderr */
  words: string
}

/**
 * A shell in an empty folder with an empty home, for the owner of a funded project with a flow named Summary, an execution of it and a
 * key. Example IDs in lines are replaced by the real ones.
 * @param program path of the built command
 */
export async function openCommandLine(stack: Stack, program: string) {
  const { url } = stack.gateways[0]!
  const tenant = await stack.tenant(5_000_000n)
  const token = (await stack.fixture.token(tenant.owner)).secret
  const sandbox = await stack.fixture.sandbox(tenant.project, flows.chain(tenant.model), {
    name: 'Summary',
    mcpEnabled: true,
    activate: true,
  })
  const user = callerAt(url, token)
  const at = `/api/v2/tenants/${tenant.project.tenant}`
  const ran = await user.ask('POST', `${at}/sandboxes/${sandbox.id}/execute`, { input: { prompt: randomUUID() } })
  const execution: string = ran.body.id

  const home = await mkdtemp(path.join(tmpdir(), 'gateway-home-'))
  const folder = path.join(home, 'work')
  const shim = path.join(home, 'bin', 'gateway')
  await mkdir(folder)
  await mkdir(path.dirname(shim))
  await writeFile(shim, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 })
  await writeFile(path.join(folder, 'token.txt'), `${token}\n`)

  const real: readonly [string, string][] = [
    ['https://gateway.example', url],
    [exampleIds.key, tenant.key.id],
    [exampleIds.sandbox, sandbox.id],
    [exampleIds.execution, execution],
    [exampleIds.product, tenant.model],
    [exampleIds.tenant, tenant.project.tenant],
    [exampleIds.project, tenant.project.id],
  ]
  const signedIn = { GATEWAY_URL: url, GATEWAY_TOKEN: token, GATEWAY_KEY: tenant.key.secret }

  function start(command: string, args: readonly string[], lines: string, options: ShellOptions) {
    const env = {
      PATH: `${path.join(home, 'bin')}:${process.env['PATH']}`,
      HOME: home,
      ...(options.isSignedIn !== false && signedIn),
      ...options.env,
    }
    const text = real.reduce((done, [example, its]) => done.replaceAll(example, its), lines)
    const child = spawn(command, [...args, text], { cwd: options.folder ?? folder, env })
    child.stdin.on('error', () => {}) // the command exited without reading its input
    const said: Ended = { code: 0, output: '', words: '' }
    child.stdout.setEncoding('utf8').on('data', (part: string) => (said.output += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (said.words += part))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ ...said, code: code ?? -1 }))
    })
    return { child, said, ended }
  }

  /** Runs the lines in bash. */
  function shell(lines: string, options: ShellOptions & { input?: string } = {}): Promise<Ended> {
    const { child, ended } = start('bash', ['-ec'], lines, options)
    child.stdin.end(options.input ?? '')
    return ended
  }

  /** Runs a line on a terminal, where `output` has both stdout and stderr. */
  function terminal(text: string, options: ShellOptions = {}) {
    const { child, said, ended } = start('script', ['--quiet', '--return', '/dev/null', '--command'], text, options)
    return { said, ended, type: (typed: string) => void child.stdin.write(typed), close: () => void child.kill() }
  }

  return {
    ...tenant,
    token,
    sandbox: sandbox.id,
    execution,
    user,
    /** API path of the organization. */
    at,
    home,
    folder,
    shell,
    terminal,
    close: () => rm(home, { recursive: true, force: true }),
  }
}
