import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ASK_LIMIT_MS = 5_000
const FETCH_LIMIT_MS = 120_000

/**
 * Checks whether a Docker engine responds and has this image, or can fetch it. Returns `no engine` if none responds,
 * else the reason why the image is unavailable: an engine may have no access to a registry.
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
  // `docker info` succeeds only with an engine; the client alone is not enough.
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
