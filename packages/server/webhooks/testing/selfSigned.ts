/**
 * A certificate that signs itself, for hooks.example from 2020 to 2120, and its key, which protects nothing. Made by
 * `openssl ca -selfsign`.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'

const CERTIFICATE =
  'MIIBbDCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1ob29rcy5leGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIx' +
  'MjAwMTAxMDAwMDAwWjAYMRYwFAYDVQQDDA1ob29rcy5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEBtoPwnv2UeaO' +
  'fdnMqa8Iwf75nYAtxhtThkmNz+nN3+k0MhaCK0lpK2LxBs/TEC0Wxo2p1RSQ/DtbSqXYyKY/LKNMMEowGAYDVR0RBBEwD4INaG9v' +
  'a3MuZXhhbXBsZTAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBRxrqMy43+w6jZ10E1enbDxbfe/XzAKBggqhkjOPQQDAgNHADBE' +
  'AiBwPl1l/r6kZAhs3AWjN5KzdXaltqVVgnBbZnFBX+VB5gIgL+tGzjZQ6rNq8d5Sl8brTyDdyTIJz1R0NnSdwh/P0rw='
const KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQguWbmIYTM+LPu6W+fwZdzXs8aOT3BiMz+97cLqNuAiZmhRANCAAQG' +
  '2g/Ce/ZR5o592cyprwjB/vmdgC3GG1OGSY3P6c3f6TQyFoIrSWkrYvEGz9MQLRbGjanVFJD8O1tKpdjIpj8s'

export const SELF_SIGNED = {
  cert: new X509Certificate(Buffer.from(CERTIFICATE, 'base64')).toString(),
  key: createPrivateKey({ key: Buffer.from(KEY, 'base64'), format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString(),
}
