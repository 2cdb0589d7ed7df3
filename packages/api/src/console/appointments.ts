import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, time } from './fields.ts'

export const appointmentRecord = z
  .strictObject({
    project: id,
    projectName: z.string(),
    tenant: id,
    tenantName: z.string(),
    user: id.describe('who becomes the Project Owner'),
    userName: z.string(),
    appointedBy: id,
    appointedByName: z.string(),
    createdAt: time,
    effectiveAt: time.describe('when the user becomes the Project Owner'),
    objectedBy: id.nullable().describe('then only a platform operator appoints an owner'),
    objectedAt: time.nullable(),
  })
  .meta({
    examples: [
      {
        project: exampleIds.project,
        projectName: 'Summaries',
        tenant: exampleIds.tenant,
        tenantName: 'Acme',
        user: exampleIds.user,
        userName: 'Ada',
        appointedBy: exampleIds.user,
        appointedByName: 'Ada',
        createdAt: '2026-11-20T09:00:00.000Z',
        effectiveAt: '2026-11-23T09:00:00.000Z',
        objectedBy: null,
        objectedAt: null,
      },
    ],
  })
export type AppointmentRecord = z.infer<typeof appointmentRecord>
