// testcontainers is loaded only on use: it is large, and most runs use the embedded servers.

/** A running server, and how to stop it. */
export interface RunningServer {
  url: string
  stop: () => Promise<void>
}

const images = { postgres: 'postgres:18-alpine', redis: 'redis:8.2-alpine' }

/** Whether a Docker engine responds, and has the images or can fetch them. */
export async function containersAvailable(): Promise<boolean> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers')
  try {
    const { image } = await getContainerRuntimeClient()
    for (const name of Object.values(images)) await image.pull(ImageName.fromString(name))
    return true
  } catch {
    return false
  }
}

/** Postgres 18 in a container, configured like the embedded one for tests. It is removed with this process. */
export async function startPostgresContainer(): Promise<RunningServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const settings = ['fsync=off', 'max_connections=400', 'shared_buffers=256MB', 'timezone=UTC']
  const container = await new GenericContainer(images.postgres)
    .withEnvironment({
      POSTGRES_PASSWORD: 'in-tests',
      POSTGRES_DB: 'svc',
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C',
    })
    .withCommand(['postgres', ...settings.flatMap((setting) => ['-c', setting])])
    .withExposedPorts(5432)
    // It starts twice: first to create the database, then to stay.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start()
  return {
    url: `postgresql://postgres:in-tests@${container.getHost()}:${container.getMappedPort(5432)}/svc`,
    stop: async () => {
      await container.stop()
    },
  }
}

/** Redis in a container. It is removed with this process. */
export async function startRedisContainer(): Promise<RunningServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(images.redis)
    .withCommand(['redis-server', '--appendonly', 'yes', '--databases', '1000', '--maxmemory-policy', 'noeviction'])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start()
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => {
      await container.stop()
    },
  }
}
