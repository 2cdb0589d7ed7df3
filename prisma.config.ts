// For Prisma's own commands, for example `prisma migrate deploy`. Our commands don't read it.
export default {
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
}
