//! The link that a station and an AP agree on, and the frames in which they say so.
//!
//! Takes addresses, suites and a network name; gives elements and management frames. Never
//! holds a key.

mod affiliation;

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::{Element, FragmentIds, emit_fragmented, id};
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::ft::{FteRepr, MdeRepr};
use airtoll_wire::ieee80211::rsne::{
    CAPABILITY_MFPC, CAPABILITY_MFPR, CAPABILITY_OCVC, RSNXE_SAE_H2E, emit_rsnxe, emit_selection,
};
use airtoll_wire::ieee80211::{
    Frame, FrameControl, HeaderRepr, Kind, Management, ManagementRepr, OciRepr, RsnRepr, suite,
};
use airtoll_wire::key_data::{KeyData, iterate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::affiliation::permitted;
use crate::exchange::{Carrier, Context, Message, Party};
use crate::failure::{Code, Failure, reason};
use crate::link::multi_link::MultiLink;
pub use crate::link::phy_elements::{PhyElements, rate_elements};
use crate::octets::written;
use crate::operation::{HashAlgorithm, Operation};
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::keys::KeyMic;
use airtoll_security::suite::CipherSuite;

/// Protected management frames (802.11-2020, 12.6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ManagementProtection {
    /// Neither side can.
    #[default]
    Off,
    /// Both can.
    #[serde(rename = "optional")]
    Capable,
    /// Both must.
    Required,
}

/// A mobility domain of fast transition (802.11-2020, 13.2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MobilityDomain {
    /// Mobility domain identifier.
    pub identifier: [u8; 2],
    /// R0 key holder identifier, 1 to 48 octets.
    pub r0_key_holder: Vec<u8>,
    /// Whether fast transition over the DS is offered.
    pub over_the_ds: bool,
}

/// Elements of both ends beside those of the link that they agree on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Announced {
    /// PHY of the station, in its requests.
    pub station: PhyElements,
    /// PHY of the AP, in its responses.
    pub access_point: PhyElements,
    /// RSN element of the AP's beacons, where it offers more links than this one; else empty.
    pub rsn: Vec<u8>,
    /// RSN overriding: the choice of the station.
    pub overriding: Option<Overriding>,
    /// Channels that both ends are on.
    pub channels: OperatingChannels,
}

/// RSN overriding (Wi-Fi Alliance, WPA3 Specification 3.4): the station takes an element of the
/// beacon that overrides the RSN element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Overriding {
    /// Number of the element in the RSN Selection element: 1 for RSNE Override, 2 for RSNE Override 2.
    pub number: u8,
    /// All overriding elements of the beacon, which message 3 repeats.
    pub elements: Vec<u8>,
}

/// The channel that each end of a link is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperatingChannels {
    /// The station's, which may be narrower than the AP's.
    pub station: OciRepr,
    /// The AP's.
    pub access_point: OciRepr,
}

impl OperatingChannels {
    /// Both ends on one channel.
    #[must_use]
    pub const fn shared(channel: OciRepr) -> Self {
        Self {
            station: channel,
            access_point: channel,
        }
    }

    /// The channel of one end.
    #[must_use]
    pub fn of(&self, party: Party) -> &OciRepr {
        if party == Party::Station {
            &self.station
        } else {
            &self.access_point
        }
    }

    /// The widest channel in which an end sends to the other one, MHz. The AP knows what the station
    /// receives; the station sends in the whole channel that it is on (12.2.9).
    fn width_mhz(&self, from: Party) -> u16 {
        let own = self.of(from).width_mhz();
        let least = match from {
            Party::Station => own,
            _ => own.min(self.station.width_mhz()),
        };
        least.unwrap_or(0)
    }
}

impl Default for OperatingChannels {
    /// Channel 1 of 2.4 GHz, 20 MHz wide: that of frames whose PHY is not stated.
    fn default() -> Self {
        Self::shared(OciRepr {
            operating_class: 81,
            channel: 1,
            segment_1: 0,
        })
    }
}

/// Properties of a link that both ends know without any secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// Network name, at most 32 octets.
    pub ssid: Vec<u8>,
    /// The station's address.
    pub station: MacAddress,
    /// The AP's address, which is also the BSSID and the R1 key holder.
    pub access_point: MacAddress,
    /// The multi-link devices of both ends and their other links, in a multi-link association.
    pub multi_link: Option<MultiLink>,
    /// AKM; `None` for open and WEP networks.
    pub akm: Option<AkmSuite>,
    /// Hash, where the AKM leaves it to the group.
    pub hash: AkmHash,
    /// Pairwise cipher.
    pub pairwise: CipherSuite,
    /// Group cipher.
    pub group: CipherSuite,
    /// Protected management frames.
    pub protection: ManagementProtection,
    /// Whether beacons carry a MIC under a BIGTK, which needs protected management frames.
    pub beacon_protection: bool,
    /// Whether both ends prove the channel that they are on, which needs protected management frames.
    pub operating_channel_validation: bool,
    /// Whether SAE uses hash-to-element, which the RSN extension element says.
    pub hash_to_element: bool,
    /// Mobility domain, with FT AKMs.
    pub mobility_domain: Option<MobilityDomain>,
    /// Elements of both ends beside those of this link.
    pub announced: Announced,
}

impl Link {
    /// The AKM's hash.
    #[must_use]
    pub fn akm_hash(&self) -> AkmHash {
        self.akm.and_then(AkmSuite::hash).unwrap_or(self.hash)
    }

    /// The MIC of EAPOL-Key frames and FT elements; `None` without an AKM.
    #[must_use]
    pub fn key_mic(&self) -> Option<KeyMic> {
        let akm = self.akm?;
        let version = akm.descriptor_version(self.pairwise == CipherSuite::Tkip);
        KeyMic::of(akm, self.akm_hash(), version).ok()
    }

    /// Whether keys use the descriptor of WPA version 1.
    #[must_use]
    pub fn is_wpa1(&self) -> bool {
        self.akm.is_some_and(AkmSuite::is_wpa1)
    }

    /// The whole RSN or WPA element with these PMKIDs; empty without an AKM.
    #[must_use]
    pub fn security_element(&self, pmkids: &[[u8; 16]]) -> Vec<u8> {
        let Some(akm) = self.akm else {
            return Vec::new();
        };
        let selector = |cipher: CipherSuite| {
            let selector = if self.is_wpa1() {
                cipher.wpa_selector()
            } else {
                cipher.selector()
            };
            suite::CipherSelector(selector.unwrap_or_default())
        };
        let protection = match self.protection {
            ManagementProtection::Off => 0,
            ManagementProtection::Capable => CAPABILITY_MFPC,
            ManagementProtection::Required => CAPABILITY_MFPC | CAPABILITY_MFPR,
        };
        let validation = if self.validates_channel() {
            CAPABILITY_OCVC
        } else {
            0
        };
        let element = RsnRepr {
            version: 1,
            group: Some(selector(self.group)),
            pairwise: vec![selector(self.pairwise)],
            akms: vec![suite::AkmSelector(akm.selector())],
            capabilities: (!self.is_wpa1()).then_some(protection | validation),
            pmkids: pmkids.to_vec(),
            group_management: self
                .group_management()
                .and_then(CipherSuite::selector)
                .map(suite::CipherSelector),
        };
        written(|out| {
            if self.is_wpa1() {
                element.emit_wpa_element(out);
            } else {
                element.emit_element(out);
            }
        })
    }

    /// BIP, when management frames are protected.
    #[must_use]
    pub fn group_management(&self) -> Option<CipherSuite> {
        // One suite for all stations of a BSS, as strong as its group cipher.
        (self.protection != ManagementProtection::Off).then_some(match self.group {
            CipherSuite::Gcmp256 => CipherSuite::BipGmac256,
            CipherSuite::Gcmp128 => CipherSuite::BipGmac128,
            _ => CipherSuite::BipCmac128,
        })
    }

    /// BIP suite of beacons, when they are protected (802.11-2020, 11.52).
    #[must_use]
    pub fn beacon_integrity(&self) -> Option<CipherSuite> {
        self.group_management().filter(|_| self.beacon_protection)
    }

    /// Whether handshakes carry operating channel information (802.11-2020, 12.2.9).
    #[must_use]
    pub fn validates_channel(&self) -> bool {
        self.operating_channel_validation
            && self.protection != ManagementProtection::Off
            && !self.is_wpa1()
    }

    /// Operating channel information that an end sends; `None` without validation.
    #[must_use]
    pub fn operating_channel(&self, from: Party) -> Option<[u8; OciRepr::OCTETS]> {
        let channels = &self.announced.channels;
        self.validates_channel().then(|| channels.of(from).octets())
    }

    /// The whole OCI KDE of an end; empty without validation.
    #[must_use]
    pub fn operating_channel_kde(&self, from: Party) -> Vec<u8> {
        self.operating_channel(from)
            .map_or_else(Vec::new, |oci| written(|out| KeyData::Oci(&oci).emit(out)))
    }

    /// Whether an end believes the operating channel information that the other one sent; always
    /// without validation.
    #[must_use]
    pub fn admits_channel(&self, at: Party, received: Option<&[u8]>) -> bool {
        if !self.validates_channel() {
            return true;
        }
        let channels = &self.announced.channels;
        let theirs = received.and_then(|octets| OciRepr::parse(octets).ok());
        theirs.is_some_and(|oci| oci.admits(channels.of(at), channels.width_mhz(at)))
    }

    /// [`Self::admits_channel`] of the OCI KDE in key data.
    #[must_use]
    pub fn admits_channel_of(&self, at: Party, key_data: &[u8]) -> bool {
        let received = iterate(key_data).find_map(|item| match item {
            KeyData::Oci(oci) => Some(oci),
            _ => None,
        });
        self.admits_channel(at, received)
    }

    /// The whole RSN extension element; empty unless hash-to-element is used.
    #[must_use]
    pub fn extension_element(&self) -> Vec<u8> {
        if !self.hash_to_element {
            return Vec::new();
        }
        let body = written(|out| emit_rsnxe(RSNXE_SAE_H2E, out));
        element(id::RSN_EXTENSION, &body)
    }

    /// The whole mobility domain element; empty without a domain.
    #[must_use]
    pub fn mobility_element(&self) -> Vec<u8> {
        self.mobility_domain.as_ref().map_or(Vec::new(), |domain| {
            let mde = MdeRepr {
                mdid: domain.identifier,
                capability: u8::from(domain.over_the_ds),
            };
            element(id::MOBILITY_DOMAIN, &written(|out| mde.emit(out)))
        })
    }

    /// The whole FT element of an initial association in a mobility domain, unprotected (13.4.2);
    /// empty without a domain. The access point is the R1 key holder.
    #[must_use]
    pub fn key_holder_element(&self, mic_octets: usize) -> Vec<u8> {
        let Some(domain) = &self.mobility_domain else {
            return Vec::new();
        };
        let zero = [0; 32];
        let fte = FteRepr {
            mic_control: [0, 0],
            mic: &zero[..mic_octets.min(32)],
            anonce: &zero,
            snonce: &zero,
            r1kh_id: Some(self.access_point.octets()),
            gtk: None,
            r0kh_id: Some(&domain.r0_key_holder),
            igtk: None,
            oci: None,
            bigtk: None,
        };
        element(id::FAST_TRANSITION, &written(|out| fte.emit(out)))
    }

    /// Elements of an association request: SSID, PHY and security; `further` ones follow those of HE
    /// and EHT.
    #[must_use]
    pub fn request_elements(&self, pmkids: &[[u8; 16]], further: &[u8]) -> Vec<u8> {
        let phy = &self.announced.station;
        let of = |phy: &PhyElements| self.request_of(phy, pmkids, further, &[]);
        let links = self.association_element(None, &of(phy), of);
        self.request_of(phy, pmkids, further, &links)
    }

    fn request_of(
        &self,
        phy: &PhyElements,
        pmkids: &[[u8; 16]],
        further: &[u8],
        links: &[u8],
    ) -> Vec<u8> {
        let security = self.security_element(pmkids);
        let mut out = element(id::SSID, &self.ssid);
        out.extend_from_slice(&phy.rates);
        if !self.is_wpa1() {
            out.extend_from_slice(&security);
        }
        out.extend(self.mobility_element());
        out.extend_from_slice(&phy.to_vht);
        out.extend(self.extension_element());
        out.extend_from_slice(&phy.from_he);
        out.extend_from_slice(links);
        out.extend_from_slice(further);
        if self.is_wpa1() {
            out.extend_from_slice(&security);
        }
        out.extend_from_slice(&phy.vendor);
        out.extend(self.selection_element());
        out
    }

    /// The RSN element of the AP's beacons, which message 3 of the 4-way handshake repeats.
    #[must_use]
    pub fn beacon_element(&self) -> Vec<u8> {
        if self.announced.rsn.is_empty() {
            self.security_element(&[])
        } else {
            self.announced.rsn.clone()
        }
    }

    /// The whole RSN Selection element; empty without RSN overriding.
    #[must_use]
    pub fn selection_element(&self) -> Vec<u8> {
        let chosen = self.announced.overriding.as_ref();
        chosen.map_or(Vec::new(), |chosen| {
            written(|out| emit_selection(chosen.number, out))
        })
    }

    /// Elements of the RSN extension in message 3: with RSN overriding those that override it.
    #[must_use]
    pub fn repeated_extension(&self) -> Vec<u8> {
        match &self.announced.overriding {
            Some(chosen) => chosen.elements.clone(),
            None => self.extension_element(),
        }
    }

    /// Elements of an association response: PHY, and the `security` that the AP answers with;
    /// `further` ones follow those of HE and EHT. `status` is that of the response.
    #[must_use]
    pub fn response_elements(&self, status: u16, security: &[u8], further: &[u8]) -> Vec<u8> {
        let phy = &self.announced.access_point;
        let of = |phy: &PhyElements| self.response_of(phy, security, further, &[]);
        let links = self.association_element(Some(status), &of(phy), of);
        self.response_of(phy, security, further, &links)
    }

    fn response_of(
        &self,
        phy: &PhyElements,
        security: &[u8],
        further: &[u8],
        links: &[u8],
    ) -> Vec<u8> {
        let mut out = phy.rates.clone();
        out.extend_from_slice(security);
        out.extend_from_slice(&phy.to_vht);
        out.extend(self.extension_element());
        out.extend_from_slice(&phy.from_he);
        out.extend_from_slice(links);
        out.extend_from_slice(further);
        out.extend_from_slice(&phy.vendor);
        out
    }

    /// Capability information: ESS, and Privacy when data are encrypted.
    #[must_use]
    pub fn capability(&self) -> u16 {
        let privacy = self.akm.is_some() || self.pairwise != CipherSuite::Open;
        0x0001 | if privacy { 0x0010 } else { 0 }
    }

    /// The address of a party on the air.
    #[must_use]
    pub fn address(&self, party: Party) -> MacAddress {
        if party == Party::Station {
            self.station
        } else {
            self.access_point
        }
    }

    /// A management frame, without FCS and with sequence number 0, which the transmitter sets.
    #[must_use]
    pub fn management(&self, from: Party, subtype: u8, body: &ManagementRepr<'_>) -> Vec<u8> {
        let to = if from == Party::Station {
            self.access_point
        } else {
            self.station
        };
        let header = HeaderRepr {
            control: FrameControl::new(Kind::Management, subtype),
            duration: 0,
            address1: to,
            address2: self.address(from),
            address3: self.access_point,
            sequence_control: 0,
            address4: None,
            qos_control: None,
            ht_control: None,
        };
        written(|out| {
            header.emit(out);
            body.emit(out);
        })
    }

    /// An authentication frame; in a multi-link association it ends with the sender's MLD address.
    #[must_use]
    pub fn authentication(
        &self,
        from: Party,
        fields: AuthenticationFields,
        rest: &[u8],
    ) -> Vec<u8> {
        let rest = [rest, &self.authentication_element(from)].concat();
        let body = ManagementRepr::Authentication(
            fields.algorithm,
            fields.transaction,
            fields.status,
            &rest,
        );
        self.management(from, subtype::AUTHENTICATION, &body)
    }

    /// Sends an authentication frame.
    pub fn send_authentication(
        &self,
        context: &mut Context<'_>,
        from: Party,
        fields: AuthenticationFields,
        rest: &[u8],
    ) {
        let frame = self.authentication(from, fields, rest);
        context.send(from, other(from), Carrier::Management, frame);
    }

    /// Sends a deauthentication frame with a reason code.
    pub fn send_deauthentication(&self, context: &mut Context<'_>, from: Party, reason: u16) {
        let body = ManagementRepr::Leave(reason);
        let frame = self.management(from, subtype::DEAUTHENTICATION, &body);
        context.send(from, other(from), Carrier::Management, frame);
    }
}

/// Fixed fields of an authentication frame (9.3.3.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthenticationFields {
    /// Authentication algorithm number.
    pub algorithm: u16,
    /// Authentication transaction sequence number.
    pub transaction: u16,
    /// Status code.
    pub status: u16,
}

/// Elements that say which links an access point offers, each empty where there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offered {
    /// RSN element with the suites of all links.
    pub rsn: Vec<u8>,
    /// Mobility domain element.
    pub mobility: Vec<u8>,
    /// RSN extension element.
    pub extension: Vec<u8>,
    /// Element of WPA version 1.
    pub wpa: Vec<u8>,
}

/// The elements of an access point that offers these links together, the preferred one first
/// (transition modes have two). Protected management frames are required where every link requires
/// them.
#[must_use]
pub fn offered(links: &[Link]) -> Offered {
    let first = |of: fn(&Link) -> Vec<u8>| links.iter().map(of).find(|e| !e.is_empty());
    let mut made = Offered {
        mobility: first(Link::mobility_element).unwrap_or_default(),
        extension: first(Link::extension_element).unwrap_or_default(),
        ..Offered::default()
    };
    let mut rsn: Option<RsnRepr> = None;
    for link in links {
        let whole = link.security_element(&[]);
        if link.is_wpa1() {
            made.wpa = whole;
            continue;
        }
        let Some(own) = whole.get(2..).and_then(|body| RsnRepr::parse(body).ok()) else {
            continue;
        };
        let Some(all) = &mut rsn else {
            rsn = Some(own);
            continue;
        };
        all.pairwise.extend(own.pairwise);
        all.pairwise.dedup();
        all.akms.extend(own.akms);
        all.akms.dedup();
        let (before, more) = (all.capabilities.unwrap_or(0), own.capabilities.unwrap_or(0));
        let required = before & more & CAPABILITY_MFPR;
        all.capabilities = Some((before | more) & !CAPABILITY_MFPR | required);
        all.group_management = all.group_management.or(own.group_management);
    }
    if let Some(all) = rsn {
        made.rsn = written(|out| all.emit_element(out));
    }
    made
}

/// The other end of the air.
#[must_use]
pub const fn other(party: Party) -> Party {
    match party {
        Party::Station => Party::AccessPoint,
        _ => Party::Station,
    }
}

/// A whole element.
#[must_use]
pub fn element(id: u8, body: &[u8]) -> Vec<u8> {
    written(|out| Element { id, body }.emit(out))
}

/// A whole element with an element ID extension, in fragments where it is longer than one element
/// (802.11-2020, 10.28.11).
#[must_use]
pub fn extended_element(number: u8, body: &[u8]) -> Vec<u8> {
    let mut octets = vec![number];
    octets.extend(body);
    let ids = FragmentIds {
        first: id::EXTENSION,
        further: id::FRAGMENT,
    };
    written(|out| emit_fragmented(out, ids, &octets))
}

/// The subtype and body of a management frame that came over the air.
#[must_use]
pub fn read_management(message: &Message) -> Option<(u8, Management<'_>)> {
    if message.carrier != Carrier::Management {
        return None;
    }
    let frame = Frame::new(&message.octets).ok()?;
    if frame.control().kind() != Kind::Management {
        return None;
    }
    let kind = frame.control().subtype();
    let body = Management::parse(kind, frame.body()).ok()?;
    Some((kind, body))
}

/// The reason code, when the message is a deauthentication or disassociation.
#[must_use]
pub fn leaving_reason(message: &Message) -> Option<u16> {
    match read_management(message)? {
        (subtype::DEAUTHENTICATION | subtype::DISASSOCIATION, Management::Leave { reason }) => {
            Some(reason)
        }
        _ => None,
    }
}

/// The failure that a station infers from a reason code.
#[must_use]
pub const fn failure_of_reason(number: u16) -> Failure {
    let code = Code::Reason(number);
    match number {
        reason::FOUR_WAY_TIMEOUT => Failure::WrongPassphrase { code },
        reason::IEEE8021X_FAILED => Failure::WrongCredentials { code },
        reason::ELEMENT_DIFFERS => Failure::ElementMismatch { code },
        reason::MIC_FAILURE => Failure::Countermeasures { code },
        _ => Failure::PeerTimeout { code },
    }
}

/// The hash that an AKM hash names.
#[must_use]
pub const fn algorithm_of(hash: AkmHash) -> HashAlgorithm {
    match hash {
        AkmHash::Sha1 => HashAlgorithm::Sha1,
        AkmHash::Sha256 => HashAlgorithm::Sha256,
        AkmHash::Sha384 => HashAlgorithm::Sha384,
        AkmHash::Sha512 => HashAlgorithm::Sha512,
    }
}

/// Names the work of a key derivation of 802.11-2020, 12.7.1: one HMAC for every digest of
/// output, over `input_octets` of label and context.
pub fn record_kdf(
    context: &mut Context<'_>,
    hash: AkmHash,
    key_octets: usize,
    input_octets: usize,
    output_octets: usize,
) {
    let algorithm = algorithm_of(hash);
    let rounds = output_octets.div_ceil(algorithm.digest_octets()) as u64;
    context.record(Operation::Hash {
        algorithm,
        // Counter and length, or the zero octet and the counter, ride along.
        blocks: rounds * algorithm.hmac_blocks(key_octets, input_octets + 4),
    });
}
