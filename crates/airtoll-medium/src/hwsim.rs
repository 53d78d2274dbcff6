//! Messages of mac80211_hwsim's generic netlink family.
//!
//! Takes octets of netlink messages, gives values, and back. Numbers are those of the kernel's
//! drivers/net/wireless/(virtual/)mac80211_hwsim.h, which is its interface to user space. Never
//! opens a socket.

use airtoll_wire::MacAddress;
use netlink_packet_core::{
    DecodeError, Emitable, ErrorContext, NLM_F_ACK, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, Nla, NlasIterator, ParseableParametrized,
};
use netlink_packet_generic::ctrl::nlas::GenlCtrlAttrs;
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};

use crate::offer::STEPS;
use crate::rates::Step;

/// The family's name.
pub const FAMILY: &str = "MAC80211_HWSIM";

const VERSION: u8 = 1;
const CMD_REGISTER: u8 = 1;
const CMD_FRAME: u8 = 2;
const CMD_TX_INFO_FRAME: u8 = 3;
const ATTR_ADDR_RECEIVER: u16 = 1;
const ATTR_ADDR_TRANSMITTER: u16 = 2;
const ATTR_FRAME: u16 = 3;
const ATTR_FLAGS: u16 = 4;
const ATTR_RX_RATE: u16 = 5;
const ATTR_SIGNAL: u16 = 6;
const ATTR_TX_INFO: u16 = 7;
const ATTR_COOKIE: u16 = 8;
const ATTR_FREQ: u16 = 19;
const ATTR_TX_INFO_FLAGS: u16 = 21;

/// HWSIM_TX_CTL_NO_ACK.
pub const NO_ACK: u32 = 1 << 1;
/// HWSIM_TX_STAT_ACK.
pub const ACKNOWLEDGED: u32 = 1 << 2;

/// A message of the family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    command: u8,
    attributes: Vec<Attribute>,
}

/// One attribute: its number and its octets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Attribute {
    kind: u16,
    value: Vec<u8>,
}

/// A frame that a radio sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The radio, by the address that hwsim uses for it.
    pub transmitter: MacAddress,
    /// The MPDU without FCS.
    pub octets: Vec<u8>,
    /// HWSIM_TX flags.
    pub flags: u32,
    /// Rates to try.
    pub chain: [Step; STEPS],
    /// The driver's number for the frame.
    pub cookie: u64,
    /// Centre frequency; 2412 from kernels that do not tell.
    pub frequency_mhz: u32,
}

/// A message from the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A radio sends a frame.
    Sent(Sent),
    /// An error number (positive), or 0 for an acknowledgement.
    Status(i32),
    /// Something else of the family, or of another.
    Other,
}

/// The request for the family's number.
#[must_use]
pub fn ask_family() -> Vec<u8> {
    let request = GenlMessage::from_payload(GenlCtrl {
        cmd: GenlCtrlCmd::GetFamily,
        nlas: vec![GenlCtrlAttrs::FamilyName(FAMILY.to_owned())],
    });
    octets(NetlinkMessage::new(
        header(NLM_F_REQUEST),
        NetlinkPayload::from(request),
    ))
}

/// The family's number in the kernel's answer.
///
/// # Errors
/// The kernel's error number (2, "no such file", where the module is not loaded), or none if the
/// answer is not one.
pub fn read_family(octets: &[u8]) -> Result<u16, Option<i32>> {
    let message = NetlinkMessage::<GenlMessage<GenlCtrl>>::deserialize(octets).map_err(|_| None)?;
    match message.payload {
        NetlinkPayload::InnerMessage(answer) => answer
            .payload
            .nlas
            .iter()
            .find_map(|attribute| match attribute {
                GenlCtrlAttrs::FamilyId(number) => Some(*number),
                _ => None,
            })
            .ok_or(None),
        NetlinkPayload::Error(error) => Err(Some(-error.raw_code())),
        _ => Err(None),
    }
}

/// Asks for the frames of all radios of this namespace, with an acknowledgement.
#[must_use]
pub fn register(family: u16) -> Vec<u8> {
    request(family, CMD_REGISTER, Vec::new(), NLM_F_ACK)
}

/// Hands a frame to a receiving radio.
#[must_use]
pub fn deliver(
    family: u16,
    receiver: MacAddress,
    frame: &[u8],
    rate_index: u32,
    signal_dbm: i32,
    frequency_mhz: u32,
) -> Vec<u8> {
    let attributes = vec![
        attribute(ATTR_ADDR_RECEIVER, receiver.octets()),
        attribute(ATTR_FRAME, frame),
        attribute(ATTR_RX_RATE, &rate_index.to_ne_bytes()),
        attribute(ATTR_SIGNAL, &signal_dbm.to_ne_bytes()),
        attribute(ATTR_FREQ, &frequency_mhz.to_ne_bytes()),
    ];
    request(family, CMD_FRAME, attributes, 0)
}

/// Tells the sending radio what became of its frame.
#[must_use]
pub fn report(
    family: u16,
    transmitter: MacAddress,
    flags: u32,
    tried: &[Step; STEPS],
    signal_dbm: i32,
    cookie: u64,
) -> Vec<u8> {
    let rates: Vec<u8> = tried
        .iter()
        .flat_map(|step| [step.index.cast_unsigned(), step.count])
        .collect();
    let attributes = vec![
        attribute(ATTR_ADDR_TRANSMITTER, transmitter.octets()),
        attribute(ATTR_FLAGS, &flags.to_ne_bytes()),
        attribute(ATTR_SIGNAL, &signal_dbm.to_ne_bytes()),
        attribute(ATTR_TX_INFO, &rates),
        attribute(ATTR_COOKIE, &cookie.to_ne_bytes()),
    ];
    request(family, CMD_TX_INFO_FRAME, attributes, 0)
}

/// Reads one netlink message from the kernel.
///
/// # Errors
/// What is wrong with its form.
pub fn read(octets: &[u8], family: u16) -> Result<Received, DecodeError> {
    let message = NetlinkMessage::<GenlMessage<Message>>::deserialize(octets)?;
    Ok(match message.payload {
        NetlinkPayload::InnerMessage(inner) if message.header.message_type == family => {
            match inner.payload.sent() {
                Some(sent) if inner.payload.command == CMD_FRAME => Received::Sent(sent),
                _ => Received::Other,
            }
        }
        NetlinkPayload::Error(error) => Received::Status(-error.raw_code()),
        _ => Received::Other,
    })
}

impl Message {
    fn value(&self, kind: u16) -> Option<&[u8]> {
        let mut all = self.attributes.iter();
        Some(&all.find(|a| a.kind == kind)?.value)
    }

    fn number(&self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(*self.value(kind)?.first_chunk()?))
    }

    fn sent(&self) -> Option<Sent> {
        let mut chain = [Step::NONE; STEPS];
        let rates = self.value(ATTR_TX_INFO)?;
        for (step, pair) in chain.iter_mut().zip(rates.chunks_exact(2)) {
            step.index = pair[0].cast_signed();
            step.count = pair[1];
        }
        // struct hwsim_tx_rate_flag: an index and 16 bits of flags, packed.
        let flags = self.value(ATTR_TX_INFO_FLAGS).unwrap_or_default();
        for (step, triple) in chain.iter_mut().zip(flags.chunks_exact(3)) {
            step.flags = u16::from_ne_bytes([triple[1], triple[2]]);
        }
        Some(Sent {
            transmitter: MacAddress::from_slice(self.value(ATTR_ADDR_TRANSMITTER)?).ok()?,
            octets: self.value(ATTR_FRAME)?.to_vec(),
            flags: self.number(ATTR_FLAGS)?,
            chain,
            cookie: u64::from_ne_bytes(*self.value(ATTR_COOKIE)?.first_chunk()?),
            frequency_mhz: self.number(ATTR_FREQ).unwrap_or(2_412),
        })
    }
}

impl Nla for Attribute {
    fn value_len(&self) -> usize {
        self.value.len()
    }

    fn kind(&self) -> u16 {
        self.kind
    }

    fn emit_value(&self, buffer: &mut [u8]) {
        buffer[..self.value.len()].copy_from_slice(&self.value);
    }
}

impl GenlFamily for Message {
    fn family_name() -> &'static str {
        FAMILY
    }

    fn command(&self) -> u8 {
        self.command
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for Message {
    fn buffer_len(&self) -> usize {
        self.attributes.as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes.as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for Message {
    fn parse_with_param(buffer: &[u8], header: GenlHeader) -> Result<Self, DecodeError> {
        let attributes = NlasIterator::new(buffer)
            .map(|one| {
                let one = one.context("attribute of MAC80211_HWSIM")?;
                Ok(attribute(one.kind(), one.value()))
            })
            .collect::<Result<_, DecodeError>>()?;
        Ok(Self {
            command: header.cmd,
            attributes,
        })
    }
}

fn attribute(kind: u16, value: &[u8]) -> Attribute {
    let value = value.to_vec();
    Attribute { kind, value }
}

fn request(family: u16, command: u8, attributes: Vec<Attribute>, flags: u16) -> Vec<u8> {
    let message = Message {
        command,
        attributes,
    };
    let mut message = GenlMessage::from_payload(message);
    message.set_resolved_family_id(family);
    octets(NetlinkMessage::new(
        header(NLM_F_REQUEST | flags),
        NetlinkPayload::from(message),
    ))
}

fn header(flags: u16) -> NetlinkHeader {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    header
}

fn octets<M>(mut message: NetlinkMessage<M>) -> Vec<u8>
where
    M: netlink_packet_core::NetlinkSerializable,
{
    message.finalize();
    let mut buffer = vec![0; message.buffer_len()];
    message.serialize(&mut buffer);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame message as a kernel of x86-64 sends it, attribute by attribute.
    fn from_kernel() -> Vec<u8> {
        let mut chain = Vec::new();
        for (index, count) in [(1i8, 2u8), (0, 5), (-1, 0), (-1, 0)] {
            chain.extend([index.cast_unsigned(), count]);
        }
        let flags = [1, 4, 0, 0, 0, 0, 255, 0, 0, 255, 0, 0];
        let attributes = vec![
            attribute(ATTR_ADDR_TRANSMITTER, &[0x42, 0, 0, 0, 3, 0]),
            attribute(ATTR_FRAME, &[0x08, 0x01, 1, 2, 3]),
            attribute(ATTR_FLAGS, &1u32.to_ne_bytes()),
            attribute(ATTR_FREQ, &2_437u32.to_ne_bytes()),
            attribute(ATTR_TX_INFO, &chain),
            attribute(ATTR_TX_INFO_FLAGS, &flags),
            attribute(ATTR_COOKIE, &77u64.to_ne_bytes()),
        ];
        request(31, CMD_FRAME, attributes, 0)
    }

    #[test]
    fn a_frame_is_read_with_its_chain() {
        let Received::Sent(sent) = read(&from_kernel(), 31).unwrap() else {
            panic!("no frame");
        };
        assert_eq!(sent.transmitter, MacAddress([0x42, 0, 0, 0, 3, 0]));
        assert_eq!(sent.octets, [0x08, 0x01, 1, 2, 3]);
        assert_eq!((sent.cookie, sent.frequency_mhz), (77, 2_437));
        let step = |index, count, flags| Step {
            index,
            count,
            flags,
        };
        assert_eq!(sent.chain[0], step(1, 2, 4));
        assert_eq!(sent.chain[1], step(0, 5, 0));
        assert_eq!(sent.chain[2].index, -1);
    }

    #[test]
    fn another_family_is_not_ours() {
        assert_eq!(read(&from_kernel(), 32).unwrap(), Received::Other);
    }

    #[test]
    fn octets_of_a_report_are_those_of_the_interface() {
        let mut tried = [Step::NONE; STEPS];
        tried[0] = Step {
            index: 1,
            count: 3,
            flags: 0,
        };
        let made = report(
            31,
            MacAddress([0x42, 0, 0, 0, 1, 0]),
            ACKNOWLEDGED,
            &tried,
            -43,
            9,
        );
        // nlmsghdr 16, genlmsghdr 4, attributes 12 + 8 + 8 + 12 + 12.
        assert_eq!(made.len(), 72);
        assert_eq!(made[..4], 72u32.to_ne_bytes());
        assert_eq!(made[4..6], 31u16.to_ne_bytes());
        assert_eq!(made[16..18], [CMD_TX_INFO_FRAME, VERSION]);
        assert_eq!(made[20..30], [10, 0, 2, 0, 0x42, 0, 0, 0, 1, 0]);
        assert_eq!(made[52..60], [1, 3, 255, 0, 255, 0, 255, 0]);
    }

    #[test]
    fn a_missing_family_is_an_error_number() {
        // NLMSG_ERROR with -ENOENT and the header of the request.
        let mut answer = Vec::new();
        answer.extend(36u32.to_ne_bytes());
        answer.extend(2u16.to_ne_bytes());
        answer.extend([0; 10]);
        answer.extend((-2i32).to_ne_bytes());
        answer.extend([0; 16]);
        assert_eq!(read_family(&answer), Err(Some(2)));
    }
}
