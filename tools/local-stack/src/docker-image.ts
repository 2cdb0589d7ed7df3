import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ASK_LIMIT_MS = 5_000
const FETCH_LIMIT_MS = 120_000

/**
 * Whether a Docker engine answers and has this image, or can fetch it. Answers `no engine` where none answers, and else
 * why the image can't be had: an engine may have no way to a registry.
 */
export async function findDockerImage(
  image: string,
  { env, log }: { env: NodeJS.ProcessEnv; log: (line: string) => void },
): Promise<'there' | 'no engine' | { problem: string }> {
  const docker = (args: string[], timeout: number) => run('docker', args, { env, timeout })
  const succeeds = (args: string[]) =>
    docker(args, ASK_LIMIT_MS).then(
      () => true,
      () => false,
    )
  // `docker info` answers only if an engine does; the client alone is not a help.
  if (!(await succeeds(['info', '--format', '{{.ServerVersion}}']))) return 'no engine'
  if (await succeeds(['image', 'inspect', image])) return 'there'
  log(`Docker fetches ${image}`)
  return docker(['pull', '--quiet', image], FETCH_LIMIT_MS).then(
    () => 'there' as const,
    (error: Error & { killed?: boolean; stderr?: string }) => ({ problem: problemOf(error) }),
  )
}

function problemOf({ killed, stderr, message }: Error & { killed?: boolean; stderr?: string }): string {
  if (killed) return `no answer within ${FETCH_LIMIT_MS / 1_000} s`
  return (stderr ?? '').trim().split('\n').at(-1) || message
}
