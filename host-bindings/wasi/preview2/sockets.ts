/** `wasi:sockets`: all of it is there, and none of it may be used. */
import type { WasiInterface } from '../../../src/ports/wasi-host.ts'
import { InterfaceError } from './component-error.ts'

function deny(): never {
  throw new InterfaceError('access-denied')
}

/** Glue wants the classes; nothing ever makes one, but the network, which can be asked for without an error. */
class Network {}
class TcpSocket {}
class UdpSocket {}
class IncomingDatagramStream {}
class OutgoingDatagramStream {}
class ResolveAddressStream {}

export const SOCKET_INTERFACES: Readonly<Record<string, WasiInterface>> = {
  'wasi:sockets/network': { Network, networkErrorCode: () => undefined },
  'wasi:sockets/instance-network': { instanceNetwork: () => new Network() },
  'wasi:sockets/ip-name-lookup': { ResolveAddressStream, resolveAddresses: deny },
  'wasi:sockets/tcp': { TcpSocket },
  'wasi:sockets/tcp-create-socket': { createTcpSocket: deny },
  'wasi:sockets/udp': { UdpSocket, IncomingDatagramStream, OutgoingDatagramStream },
  'wasi:sockets/udp-create-socket': { createUdpSocket: deny },
}
